import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Effect } from "effect"
import { afterAll, afterEach, assert, beforeAll, beforeEach, describe, it } from "vitest"
import { copyOfTemplate, drop, invariantsOnServer, serverUrl } from "../support/postgres/Databases.js"
import { finished } from "../support/Finished.js"
import { cleanUp, freshFolder, masterKey, Program } from "../support/Program.js"
import { Relay } from "./faults/Relay.js"

const coffer = fileURLToPath(new URL("../../../cli/bin/coffer.js", import.meta.url))
const server = fileURLToPath(new URL("../../bin/coffer-server.js", import.meta.url))
const secret = "/api/orgs/acme/projects/webshop/envs/prod/secrets/A"

let folder: string
let token: string
let relay: Relay
let name: string
/** The database through a network that fails when a command commits. */
let url: string

/** A file with an organization and a secret. */
beforeAll(async () => {
  folder = freshFolder()
  const program = await Program.start({ SERVICE_DB_PATH: join(folder, "service.db") })
  token = await program.login("ada@example.com")
  await program.call("POST", "/api/orgs", { token, body: { name: "acme" } })
  await program.call("POST", "/api/orgs/acme/projects", { token, body: { name: "webshop" } })
  await program.call("PUT", secret, { token, body: { value: "one" } })
  await program.stop()
})

afterAll(cleanUp)

beforeEach(async () => {
  name = await Effect.runPromise(copyOfTemplate)
  const target = new URL(`${serverUrl()}/${name}`)
  relay = await Relay.to(Number(target.port))
  target.port = String(relay.port)
  url = target.href
})

afterEach(async () => {
  relay.close()
  await Effect.runPromise(drop(name))
})

const copy = (target: string) =>
  finished(folder, [server, "database", "copy", "--from", "service.db", "--to", "env:TARGET"], { TARGET: target })

describe("a command that loses the connection to PostgreSQL while it commits", () => {
  it("tells after a copy that the next try will find out", async () => {
    relay.cutsCommits = true
    const lost = await copy(url)
    assert.strictEqual(lost.code, 1, lost.said)
    assert.match(lost.warned, /was lost while the copy was committed: run the command again, which refuses if the copy/)

    relay.cutsCommits = false
    const again = await copy(url)
    assert.match(again.code === 0 ? again.said : again.warned, /verified|is not empty/)
    await Effect.runPromise(invariantsOnServer(name, masterKey))
  })

  it("keeps the new key after a rotation and says to try both; the one that opens the database reads all", async () => {
    const copied = await copy(url)
    assert.strictEqual(copied.code, 0, copied.warned)
    relay.cutsCommits = true
    const out = join(folder, "new.key")
    const lost = await finished(
      folder,
      [coffer, "master-key", "rotate", "--generate", "--db", "env:TARGET", "--out", out],
      { TARGET: url }
    )
    assert.strictEqual(lost.code, 1, lost.said)
    assert.match(
      lost.warned,
      /lost while the rotation was committed: keep both keys, and try both with coffer-server check/
    )
    assert.isTrue(existsSync(out))

    relay.cutsCommits = false
    const keys = [masterKey, readFileSync(out, "utf8").trim()]
    const tries = await Promise.all(
      keys.map(async (key) => {
        const variables = { SERVICE_MASTER_KEY: key, SERVICE_DATABASE_URL: url, SMTP_HOST: "log" }
        const { said } = await finished(folder, [server, "check"], variables)
        return /the master key \(fingerprint \w+\) opens the database/.test(said)
      })
    )
    assert.sameMembers(tries, [true, false], "one key opens the database")
    await Effect.runPromise(invariantsOnServer(name, keys[tries.indexOf(true)] ?? ""))
  })
})
