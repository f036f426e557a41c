import { randomBytes } from "node:crypto"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import Sqlite from "better-sqlite3"
import { afterAll, assert, describe, it } from "vitest"
import { askOf, connectionBody, endpoints } from "../authorization/Contract.js"
import { keysBelow, readObject } from "../backups/Endpoint.js"
import { cleanUp, masterKey } from "../support/Program.js"
import { badRequests } from "./Bad.js"
import { formsIn, formsOf, mark } from "./Marks.js"
import { watch } from "./Witness.js"
import { World } from "./World.js"

afterAll(cleanUp)

const secrets = "/api/orgs/:org_name/projects/:project_name/envs/:env_name/secrets/:key"

/** Sound calls that need another one before them, or end what others need, come in this order behind the rest. */
const later = [
  "PATCH /api/orgs/:org_name/projects/:project_name/envs/:env_name/rotations/:rotation_name",
  "DELETE /api/orgs/:org_name/projects/:project_name/envs/:env_name/rotations/:rotation_name",
  "DELETE /api/orgs/:org_name/projects/:project_name/envs/:env_name/roles/:role_name",
  "DELETE /api/orgs/:org_name/exports/:export_id",
  "DELETE /api/imports/:import_id",
  "POST /api/auth/passkeys",
  "DELETE /api/auth/passkeys/:passkey_id",
  "POST /api/auth/passkeys/challenge",
  "POST /api/auth/passkeys/verify",
  "POST /api/auth/delegations",
  "DELETE /api/auth/delegations/:delegation_id",
  `POST ${secrets}/rollback`,
  "POST /api/backups/:backup_id/restore",
  `POST ${secrets}/destroy`,
  `DELETE ${secrets}`,
  `POST ${secrets}/undelete`,
  "DELETE /api/orgs/:org_name/acl/:rule_id",
  "DELETE /api/orgs/:org_name/service-accounts/:sa_id/federations/:federation_id",
  "DELETE /api/orgs/:org_name/service-accounts/:sa_id",
  "DELETE /api/orgs/:org_name/webhooks/:webhook_id",
  "DELETE /api/orgs/:org_name/groups/:group_name/members/:user_id",
  "PUT /api/orgs/:org_name/groups/:group_name/members",
  "PUT /api/orgs/:org_name/group-mappings",
  "PATCH /api/orgs/:org_name/groups/:group_name",
  "DELETE /api/orgs/:org_name/groups/:group_name",
  "DELETE /api/orgs/:org_name/members/:user_id",
  "DELETE /api/orgs/:org_name/members/me",
  "PATCH /api/orgs/:org_name/projects/:project_name",
  "PATCH /api/orgs/:org_name",
  "DELETE /api/orgs/:org_name/projects/:project_name/envs/:env_name",
  "DELETE /api/orgs/:org_name/projects/:project_name",
  "DELETE /api/orgs/:org_name",
  "DELETE /api/auth/sessions/:session_id",
  "DELETE /api/auth/sessions",
  "DELETE /api/auth/logout"
]

/** These need an other side, or a request that waits: their own tests look for values in all that comes of them. */
const hasOtherSide = (path: string): boolean =>
  /\/(use|approve|refuse|protection)$|\/requests(\/|$)|\/targets\/:target_name\/(plan|check|push)$|\/:role_name\/leases$|\/:lease_id/.test(
    path
  )

const inOrder = [...endpoints].sort((a, b) => later.indexOf(a.call) - later.indexOf(b.call))

/** Sends each call what it does not take. Calls that take no body, and change something, are asked by a stranger. */
const sweepBad = async (world: World, owner: string, stranger: string) => {
  for (const endpoint of endpoints) {
    const takesBody = askOf(endpoint, world.about()).body !== undefined
    const token = takesBody || endpoint.method === "GET" ? owner : stranger
    for (const { method, options, path } of badRequests(endpoint, world.place, world.marks.bad, token)) {
      // A request that is far too long may be cut off before it is sent: then there is no answer.
      await world.program.call(method, path, options).catch(() => undefined)
    }
  }
}

/** Sends each call of the contract what it takes; answers the calls that did what they are for. */
const sweepSound = async (world: World, root: string): Promise<ReadonlyArray<string>> => {
  const done: Array<string> = []
  let token = root
  let spareImport = ""
  for (const endpoint of inOrder) {
    if (hasOtherSide(endpoint.path)) continue
    switch (endpoint.call) {
      case "POST /api/auth/verify":
        await world.login(world.address())
        done.push(endpoint.call)
        continue
      case "POST /api/auth/token":
        await world.approve()
        done.push(endpoint.call)
        continue
      case "POST /api/auth/federate":
        await world.signIn(root)
        done.push(endpoint.call)
        continue
      case "DELETE /api/orgs/:org_name/projects/:project_name/envs/:env_name/connections/:connection_name": {
        // The one of the world has a rotation.
        const { env_name, org_name, project_name } = world.place
        const at = `/api/orgs/${org_name}/projects/${project_name}/envs/${env_name}/connections`
        await world.program.call("POST", at, { token, body: { ...connectionBody, name: "spare" } })
        const removed = await world.program.call("DELETE", `${at}/spare`, { token })
        assert.strictEqual(removed.status, 204, removed.text)
        done.push(endpoint.call)
        continue
      }
      case "POST /api/auth/consents":
      case "POST /api/auth/consents/review":
        await world.consent(endpoint.path, token)
        done.push(endpoint.call)
        continue
      case "GET /api/orgs/:org_name/projects/:project_name/previews": {
        const { org_name, project_name } = world.place
        const body = { from: "staging", pattern: "pr-*" }
        await world.program.call("PUT", `/api/orgs/${org_name}/projects/${project_name}/previews`, { token, body })
        break
      }
      case "POST /api/auth/passkeys":
        world.move({ passkey_id: (await world.register(token, "laptop")).id })
        done.push(endpoint.call)
        continue
      case "POST /api/auth/passkeys/challenge":
      case "DELETE /api/auth/passkeys/:passkey_id":
        // Those before may have removed the last one.
        world.move({ passkey_id: (await world.register(token, `for-${done.length}`)).id })
        break
      case "POST /api/auth/passkeys/verify":
        await world.prove(token, (await world.register(token, "phone")).device)
        done.push(endpoint.call)
        continue
      case "DELETE /api/auth/sessions/:session_id": {
        await world.login(world.root, 2)
        const { body } = await world.program.call("GET", "/api/auth/sessions", { token })
        world.move({ session_id: body.data.find(({ current }: { current: boolean }) => !current).id })
        break
      }
      case "DELETE /api/orgs/:org_name/members/me": {
        // The last owner cannot leave.
        const email = world.address()
        const body = { email, role: "member" }
        await world.program.call("POST", `/api/orgs/${world.place.org_name}/members`, { token, body })
        const left = await world.sound(endpoint, await world.login(email))
        assert.strictEqual(left.status, 204, left.text)
        done.push(endpoint.call)
        continue
      }
      case "DELETE /api/auth/logout":
        token = await world.login(world.root, 3)
    }
    if (endpoint.path.includes("/:removed_id")) await world.remove(endpoint, token)
    const answer = await world.sound(endpoint, token)
    if (endpoint.call === "POST /api/auth/delegations") world.move({ delegation_id: answer.body.id })
    // The one before is finished.
    if (endpoint.call === "POST /api/imports/:import_id/finish") world.move({ import_id: spareImport })
    if (endpoint.call === "POST /api/imports") spareImport = answer.body.id
    if (endpoint.call === "POST /api/backups") world.move({ backup_id: answer.body.id })
    if (endpoint.call === "PATCH /api/orgs/:org_name") world.move({ org_name: answer.body.name })
    if (endpoint.call === "PATCH /api/orgs/:org_name/groups/:group_name") {
      world.move({ group_name: answer.body.name })
    }
    if (endpoint.path.endsWith("/:project_name") && endpoint.method === "PATCH") {
      world.move({ project_name: answer.body.name })
    }
    assert.isBelow(answer.status, 300, `${endpoint.call}: ${answer.text}`)
    done.push(endpoint.call)
  }
  return done
}

/** Makes the server fail where it holds values, addresses and codes in its hands. */
const breakDown = async (world: World, owner: string) => {
  const { email, key, value } = world.marks
  const { org_name, project_name } = world.place
  const at = `/api/orgs/${org_name}/projects/${project_name}/envs/dev`
  const database = new Sqlite(world.program.file())
  const broken = async (table: string, call: () => Promise<{ readonly status: number }>) => {
    database.exec(`CREATE TRIGGER broken BEFORE INSERT ON ${table} BEGIN SELECT RAISE(ABORT, 'broken'); END`)
    assert.strictEqual((await call()).status, 500, table)
    database.exec("DROP TRIGGER broken")
  }
  const call = async (method: string, path: string, body?: object) =>
    world.program.call(method, path, { token: owner, body })
  await broken("secret_versions", () => call("PUT", `${at}/secrets/BROKEN_${key}`, { value }))
  await broken("secret_versions", () => call("PATCH", `${at}/bundle`, { set: { [`BROKEN_${key}`]: value } }))
  await broken("login_codes", () => call("POST", "/api/auth/login", { email: `broken-${email}@example.com` }))
  await broken("users", () => call("POST", `/api/orgs/${org_name}/members`, { email: `new-${email}@example.com` }))
  await broken("api_keys", () => call("POST", `/api/orgs/${org_name}/service-accounts`, { name: "broken" }))
  database.exec("CREATE TRIGGER broken BEFORE INSERT ON audit_entries BEGIN SELECT RAISE(ABORT, 'broken'); END")
  await call("PUT", `${at}/secrets/UNAUDITED_${key}`, { value })
  await call("GET", `${at}/bundle`)
  await world.program.said(/audit entries could not be written/, 2)
  database.exec("DROP TRIGGER broken")
  await call("PUT", `${at}/secrets/DAMAGED_${key}`, { value })
  const versions = "secret_versions WHERE secret_id IN (SELECT id FROM secrets WHERE key LIKE 'DAMAGED%')"
  const sound = database.prepare(`SELECT ciphertext FROM ${versions}`).pluck().get()
  const put = database.prepare(`UPDATE ${versions.replace(" WHERE", " SET ciphertext = ? WHERE")}`)
  put.run(randomBytes(Buffer.from(sound as Uint8Array).length))
  assert.strictEqual((await call("GET", `${at}/secrets/DAMAGED_${key}`)).body.error.code, "DECRYPTION_FAILED")
  put.run(sound)
  database.close()
  await call("POST", "/api/auth/login", { email: `refused-${email}@example.com` })
  await world.program.said(/a login code was not mailed/)
  // Refusals whose words name what they are about.
  assert.strictEqual((await call("GET", `${at}/secrets/ABSENT_${key}`)).status, 404)
  assert.strictEqual((await call("PUT", `${at}/secrets/K_${key}`, { value, expected_version: 9 })).status, 409)
  assert.strictEqual((await call("POST", "/api/orgs", { name: org_name })).status, 409)
  assert.strictEqual((await call("GET", `${at}/bundle?keys=ABSENT_${key}`)).status, 404)
  // Requests that Node's own parser refuses.
  await world.program.exchange(`GET /${world.marks.bad} HTTP/9.9\r\nX: ${world.marks.bad}\r\n\r\n`)
  await world.program.exchange(`GET / HTTP/1.1\r\nHost: a\r\nX: ${world.marks.bad.repeat(1_000)}\r\n\r\n`)
}

/** Everything that such a server leaves behind or sends away, by where it is. */
const sweep = async (format: "json" | "pretty") => {
  const world = await World.start(format)
  const { program } = world
  const watching = watch(program.pid, [program.folder, join(program.folder, "tmp")], (name) =>
    /^(service\.db(-wal|-shm|\.lock)?|audit\.jsonl|master\.key|tmp)$/.test(name)
  )
  const root = await world.login(world.root)
  await world.build(root)
  const stranger = await world.login(world.address())
  await sweepBad(world, root, stranger)
  await breakDown(world, root)
  const done = await sweepSound(world, root)
  // A wrong code, and one that is used twice, are codes too.
  const used = world.post.codes.at(-1) ?? ""
  await program.verify(world.root, used)

  const metrics = await (await fetch(world.metrics)).text()
  const wal = readFileSync(program.file("-wal"))
  const live = readFileSync(program.file())
  assert.deepStrictEqual(await program.stop(), { code: 0, signal: null })
  const { files, processes } = watching.stop()
  const objects = await Promise.all((await keysBelow(world.prefix)).map(readObject))
  const database = new Sqlite(program.file(), { readonly: true })
  const rows = database.prepare("SELECT * FROM audit_entries").all()
  database.close()
  world.close()

  const temporary = (kind: RegExp) => Buffer.concat(files.flatMap(([name, bytes]) => (kind.test(name) ? [bytes] : [])))
  const places: Readonly<Record<string, Buffer>> = {
    log: Buffer.from(program.log),
    metrics: Buffer.from(metrics),
    traces: Buffer.from(world.receiver.text),
    processes,
    backups: Buffer.concat(objects),
    audit: Buffer.concat([Buffer.from(JSON.stringify(rows)), readFileSync(join(program.folder, "audit.jsonl"))]),
    database: Buffer.concat([live, readFileSync(program.file())]),
    wal,
    snapshots: temporary(/\.service\.db\.|restore/),
    "other files": temporary(/^(?!.*(\.service\.db\.|restore)).*$/)
  }
  return { world, done, places }
}

/** The places where some words stand, in whatever form. */
const placesOf = (places: Readonly<Record<string, Buffer>>, words: ReadonlyArray<string>): ReadonlyArray<string> =>
  Object.entries(places).flatMap(([place, bytes]) =>
    words.flatMap((word) => formsIn(bytes, word).map((form) => `${place}: ${form}`))
  )

const names = (found: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...new Set(found.map((text) => text.slice(0, text.indexOf(":"))))
]

describe.each(["json", "pretty"] as const)(
  "after every call of the contract, good and bad, with a log as %s",
  (format) => {
    const swept = sweep(format)

    it("each call was made as it should be", async () => {
      const { done } = await swept
      assert.sameMembers(
        [...done],
        endpoints.filter(({ path }) => !hasOtherSide(path)).map(({ call }) => call)
      )
    })

    it("no value, token, code or misplaced word is anywhere", async () => {
      const { places, world } = await swept
      assert.isAtLeast(world.tokens.length, 7)
      assert.isAtLeast(world.post.codes.length, 6)
      const words = [world.marks.value, world.marks.bad, ...world.tokens, ...world.post.codes, masterKey]
      assert.deepStrictEqual(placesOf(places, words), [])
    })

    it("addresses are in the database and the audit trail alone, which are about people", async () => {
      const { places, world } = await swept
      const found = names(placesOf(places, [world.marks.email]))
      assert.sameMembers([...found], ["database", "wal", "audit", "snapshots"])
    })

    it("keys of secrets and names of places are in the database and the audit trail alone", async () => {
      const { places, world } = await swept
      for (const word of [world.marks.key, world.marks.name]) {
        assert.sameMembers([...names(placesOf(places, [word]))], ["database", "wal", "audit", "snapshots"])
      }
    })

    it("there was something to find in each place", async () => {
      const { places, world } = await swept
      for (const [place, bytes] of Object.entries(places)) {
        if (place !== "other files") assert.isAbove(bytes.length, 500, place)
      }
      assert.isAbove(places["log"]?.toString().split("\n").length ?? 0, 500)
      assert.isAbove(world.receiver.spans.length, 500)
      assert.include(places["processes"]?.toString(), "coffer-server.js")
    })
  }
)

describe("the search", () => {
  it("finds a word however it is written, wherever it stands", () => {
    const word = mark("word")
    const percent = encodeURIComponent(`"${word}"`)
    const written = [
      `x${word}y`,
      percent,
      word.toUpperCase(),
      Buffer.from(`x${word}y`).toString("hex"),
      ...[0, 1, 2, 3].flatMap((before) =>
        [0, 1, 2].flatMap((after) => {
          const text = Buffer.from("x".repeat(before) + word + "y".repeat(after))
          return [text.toString("base64"), text.toString("base64url")]
        })
      )
    ]
    for (const text of written) assert.isNotEmpty(formsIn(Buffer.from(`before ${text} after`), word), text)
    assert.isNotEmpty(formsIn(Buffer.from(word, "utf16le"), word))
    assert.isAtLeast(formsOf(word).length, 10)
    assert.isEmpty(formsIn(Buffer.from(mark("word")), word))
    assert.isNotEmpty(formsIn(Buffer.from('"code":"123456"'), "123456"))
    assert.isEmpty(formsIn(Buffer.from("0.123456, 91234567"), "123456"))
  })
})
