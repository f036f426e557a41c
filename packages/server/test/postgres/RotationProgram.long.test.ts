import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { copyOfTemplate, drop, invariantsOnServer, serverUrl } from "../support/postgres/Databases.js"
import { finished } from "../support/Finished.js"
import { cleanUp, freshFolder, Program, type Variables } from "../support/Program.js"

const bin = fileURLToPath(new URL("../../../cli/bin/coffer.js", import.meta.url))
const password = "not-to-be-shown"
const secret = "/api/orgs/acme/projects/webshop/envs/prod/secrets/A"

let name: string
let url: string
let folder: string

/** Runs `coffer master-key rotate` to its end. */
const rotate = async (args: ReadonlyArray<string>, env: Variables) => {
  const { code, said, warned } = await finished(folder, [bin, "master-key", "rotate", "--generate", ...args], env)
  assert.notInclude(said + warned, password)
  return { code, said, warned }
}

beforeAll(async () => {
  name = await Effect.runPromise(copyOfTemplate)
  const withPassword = new URL(`${serverUrl()}/${name}`)
  withPassword.password = password
  url = withPassword.href
  folder = freshFolder()
})

afterAll(async () => {
  cleanUp()
  await Effect.runPromise(drop(name))
})

describe("coffer master-key rotate on PostgreSQL", () => {
  it("refuses while a server runs, then rotates, by the name of a variable or by the server's own setting", async () => {
    const server = await Program.start({ SERVICE_DATABASE_URL: url })
    const token = await server.login("ada@example.com")
    await server.call("POST", "/api/orgs", { token, body: { name: "acme" } })
    await server.call("POST", "/api/orgs/acme/projects", { token, body: { name: "webshop" } })
    await server.call("PUT", secret, { token, body: { value: "one" } })

    const first = join(folder, "first.key")
    const refused = await rotate(["--db", "env:TARGET", "--out", first], { TARGET: url })
    assert.strictEqual(refused.code, 1, refused.warned)
    assert.match(refused.warned, /a server runs on the database/)
    assert.isFalse(existsSync(first), "a refused rotation leaves no key")
    await server.stop()

    const rotated = await rotate(["--db", "env:TARGET", "--out", first], { TARGET: url })
    assert.strictEqual(rotated.code, 0, rotated.warned)
    assert.match(rotated.said + rotated.warned, /1 /)

    const second = join(folder, "second.key")
    const again = await rotate(["--out", second], {
      SERVICE_DATABASE_URL: url,
      SERVICE_MASTER_KEY: readFileSync(first, "utf8").trim()
    })
    assert.strictEqual(again.code, 0, again.warned)

    const wrong = await Program.refused({ SERVICE_DATABASE_URL: url })
    assert.match(wrong.log, /does not open this database/)
    const key = readFileSync(second, "utf8").trim()
    const after = await Program.start({ SERVICE_DATABASE_URL: url, SERVICE_MASTER_KEY: key })
    const read = await after.call("GET", secret, { token })
    assert.strictEqual(read.body.value, "one", read.text)
    await after.stop()
    await Effect.runPromise(invariantsOnServer(name, key))
  })
})
