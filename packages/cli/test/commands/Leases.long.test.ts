import type { ChildProcess } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, Exit, Scope } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import {
  type RenewedDatabase,
  renewedDatabase,
  renewerPassword
} from "../../../server/test/support/postgres/RenewedDatabase.js"
import { finish } from "../support/Programs.js"
import { workplace } from "../support/Workplace.js"

const place = workplace("ada@example.com", () => ({ SERVICE_RENEWAL_NETWORKS: "127.0.0.0/8" }))

const scope = Effect.runSync(Scope.make())
let database: RenewedDatabase

beforeAll(async () => {
  database = await Effect.runPromise(Scope.extend(renewedDatabase, scope))
  await database.query("GRANT ALL ON SCHEMA public TO renewer WITH GRANT OPTION")
  const ca = join(place.home.folder, "ca.pem")
  writeFileSync(ca, database.ca)
  await place.ok("set", `RENEWER=${renewerPassword}`)
  const login = ["--database", "postgres", "--user", "renewer", "--password-key", "RENEWER"]
  const at = ["--host", "127.0.0.1", "--port", String(database.port), "--tls", "verify-ca", "--ca", ca]
  await place.ok("connection", "create", "shop-db", ...at, ...login)
  await place.ok("role", "create", "app-role", "--connection", "shop-db")
})

afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

const users = async (): Promise<ReadonlyArray<unknown>> => {
  const rows = await database.query("SELECT rolname FROM pg_roles WHERE rolname LIKE 'coffer\\_%'")
  return rows.map(({ rolname }) => rolname)
}

/** Waits until the database has no leased user. */
const removed = async (): Promise<void> => {
  while ((await users()).length > 0) await new Promise((resolve) => setTimeout(resolve, 100))
}

const firstLine = (child: ChildProcess): Promise<string> =>
  new Promise((resolve) => {
    let text = ""
    child.stdout?.on("data", (chunk: Buffer) => {
      text += chunk.toString()
      if (text.includes("\n")) resolve(text.slice(0, text.indexOf("\n")))
    })
  })

describe("coffer lease", () => {
  it("makes a user that logs in, lists and renews it, and ends it", async () => {
    const made = JSON.parse(await place.prints("lease", "create", "app-role", "--ttl", "5m", "--json"))
    assert.isTrue(await database.admits(made.username, made.password))
    assert.include(await place.prints("lease", "list"), made.id)
    assert.include(await place.prints("lease", "renew", made.id), "lasts until")
    const refused = await place.home.coffer(["lease", "revoke", made.id])
    assert.notStrictEqual(refused.code, 0)
    await place.ok("lease", "revoke", made.id, "--yes")
    await removed()
    assert.isFalse(await database.admits(made.username, made.password))
  })
})

describe("coffer run --lease", () => {
  const script = 'echo "$DB_USER $DB_PASSWORD $DB_URL"; cat'

  it("gives a command a user of its own, which ends with it", async () => {
    const child = place.home.start(["run", "--lease", "DB=app-role", "--", "sh", "-c", script])
    const [user = "", password = "", url = ""] = (await firstLine(child)).split(" ")
    assert.deepStrictEqual(await users(), [user])
    assert.isTrue(await database.admits(user, password))
    assert.strictEqual(new URL(url).username, user)
    assert.strictEqual((await finish(child)).code, 0)
    await removed()
  })

  it("ends the user when a signal ends the command", async () => {
    const asleep = 'echo "$DB_USER"; exec sleep 60'
    const child = place.home.start(["run", "--lease", "DB=app-role", "--", "sh", "-c", asleep])
    await firstLine(child)
    child.kill("SIGTERM")
    const { code, signal, stderr } = await finish(child)
    assert.deepStrictEqual([signal, code], ["SIGTERM", null], stderr)
    await removed()
  })

  it("starts nothing if the role does not exist, and leaves no user of another one", async () => {
    const { code, stderr } = await place.home.coffer([
      ...["run", "--lease", "DB=app-role", "--lease", "OTHER=other", "--", "echo", "started"]
    ])
    assert.strictEqual(code, 125)
    assert.include(stderr, "role other does not exist")
    await removed()
  })

  it("is refused with a signal in place of a restart, and with no role", async () => {
    const hup = ["run", "--watch", "--signal", "HUP", "--lease", "DB=app-role", "--", "true"]
    assert.strictEqual((await place.home.coffer(hup)).code, 125)
    assert.strictEqual((await place.home.coffer(["run", "--lease", "DB", "--", "true"])).code, 125)
  })
})

describe("coffer run with leases in service.yml", () => {
  const inFolder = (...args: ReadonlyArray<string>) =>
    place.home.coffer(args, { cwd: join(place.home.folder, "leasing") })
  const print = ["sh", "-c", 'echo "$DB_USER"'] as const

  it("leases nothing while the file is not trusted, and says so, and else does what --lease does", async () => {
    const folder = join(place.home.folder, "leasing")
    mkdirSync(folder)
    const own = readFileSync(join(place.home.folder, "service.yml"), "utf8")
    writeFileSync(join(folder, "service.yml"), `${own}leases:\n  DB: app-role\n`)
    const untrusted = await inFolder("run", "--", ...print)
    assert.deepStrictEqual([untrusted.code, untrusted.stdout], [0, "\n"])
    assert.include(untrusted.stderr, "no lease for DB: service.yml allows that, but is not trusted; read it, then run")
    assert.include((await inFolder("doctor")).stdout, "DB: service.yml allows that, but is not trusted")

    const trusting = await inFolder("trust")
    assert.include(trusting.stdout, "coffer run leases a user of app-role for DB_URL there")
    const { code, stderr, stdout } = await inFolder("run", "--", ...print)
    assert.strictEqual(code, 0, stderr)
    assert.match(stdout, /^coffer_/)
    await removed()

    const hup = await inFolder("run", "--watch", "--signal", "HUP", "--", "true")
    assert.strictEqual(hup.code, 125)
    assert.include(hup.stderr, "service.yml names leases: leave --signal out")
    const other = await inFolder("run", "--lease", "DB=other", "--", ...print)
    assert.include(other.stderr, "role other does not exist", "an option names another role for the same variables")
  })
})
