import Sqlite from "better-sqlite3"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { assertRefused, cleanUp, Program } from "../support/Program.js"

const secret = "/api/orgs/acme/projects/webshop/envs/dev/secrets/KEY"

let program: Program
let token: string

/** Changes the database behind the server's back. */
const behind = (statement: string): void => {
  const database = new Sqlite(program.file())
  database.exec(statement)
  database.close()
}

const ready = async () => program.call("GET", "/health/ready")

beforeAll(async () => {
  program = await Program.start()
  token = await program.login("ada@example.com")
  await program.call("POST", "/api/orgs", { token, body: { name: "acme" } })
  await program.call("POST", "/api/orgs/acme/projects", { token, body: { name: "webshop" } })
})

afterAll(cleanUp)

describe("the server is ready", () => {
  it("when the database answers, without a credential", async () => {
    const answer = await ready()
    assert.deepStrictEqual([answer.status, answer.body], [200, { status: "ok" }])
  })

  it("no more when audit entries cannot be written, and again when they can, without an entry of its own", async () => {
    await program.call("PUT", secret, { token, body: { value: "1" } })
    const entries = async (): Promise<number> =>
      (await program.call("GET", "/api/orgs/acme/audit-logs?limit=1", { token })).body.pagination.total
    const before = await entries()
    behind("CREATE TRIGGER broken BEFORE INSERT ON audit_entries BEGIN SELECT RAISE(ABORT, 'broken'); END")
    assert.strictEqual((await program.call("PUT", secret, { token, body: { value: "2" } })).status, 200)
    assertRefused(await ready(), 503, "NOT_READY", /^the audit trail cannot be written$/)
    assertRefused(await ready(), 503, "NOT_READY")
    assert.strictEqual((await program.call("GET", "/health")).status, 200)
    behind("DROP TRIGGER broken")
    assert.strictEqual((await ready()).status, 200)
    assert.strictEqual(await entries(), before)
    await program.call("PUT", secret, { token, body: { value: "3" } })
    assert.strictEqual(await entries(), before + 1)
    const verified = await program.call("GET", "/api/orgs/acme/audit-logs/verify", { token })
    assert.strictEqual(verified.body.valid, true)
  })

  it("no more while another program has locked the database for long; changes wait for it, and nothing else does", async () => {
    const lock = new Sqlite(program.file())
    lock.exec("BEGIN IMMEDIATE")
    const change = program.call("PUT", secret, { token, body: { value: "4" } })
    let changed = false
    void change.finally(() => (changed = true))
    while (!changed) {
      assert.strictEqual((await program.call("GET", "/health")).status, 200)
      assert.strictEqual((await program.call("GET", secret, { token })).status, 200)
    }
    const refused = await change
    assertRefused(refused, 503, "NOT_READY", /^another program has locked the database: try again$/)
    assert.strictEqual(refused.headers.get("retry-after"), "5")
    assertRefused(await ready(), 503, "NOT_READY", /^another program has locked the database$/)
    assertRefused(await program.call("PUT", secret, { token, body: { value: "5" } }), 503, "NOT_READY")
    lock.close()
    assert.strictEqual((await ready()).status, 200)
    assert.strictEqual((await program.call("PUT", secret, { token, body: { value: "6" } })).status, 200)
  })

  it("no more when the database does not respond", async () => {
    behind("ALTER TABLE instance RENAME TO elsewhere")
    assertRefused(await ready(), 503, "NOT_READY", /^the database does not respond$/)
    behind("ALTER TABLE elsewhere RENAME TO instance")
    assert.strictEqual((await ready()).status, 200)
  })
})
