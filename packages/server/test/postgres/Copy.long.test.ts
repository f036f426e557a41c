import { copyFileSync, readdirSync } from "node:fs"
import { dirname, join } from "node:path"
import { Authenticator } from "@coffer/server/access/caller/Authenticator"
import { identified } from "../delegations/Support.js"
import { parsePlace } from "@coffer/server/base/config/DatabasePlace"
import { copyDatabase, type CopyOptions } from "@coffer/server/operations/copy/CopyCommand"
import { notCopied } from "@coffer/server/database/copy/Tables"
import { offlineDatabase } from "@coffer/server/database/sqlite/SqliteDatabase"
import { assert, describe, it } from "@effect/vitest"
import { Console, Effect, Either, type Scope } from "effect"
import { afterAll, beforeAll } from "vitest"
import { cleanUp, freshFolder } from "../support/Program.js"
import { freshDatabase, onServer } from "../support/postgres/Databases.js"
import {
  configAt,
  freshPath,
  invariants,
  organization,
  outcome,
  person,
  rawAt,
  readSecret,
  removeSecret,
  type Services,
  servicesAt,
  servicesIn,
  setSecret
} from "../support/Services.js"
import { delegation, fill } from "./Filled.js"

const place = (text: string) => Either.getOrThrow(parsePlace(text, {}))

/** Copies a database, and returns what the command printed. */
const copy = (from: string, to: string, options: Partial<CopyOptions> & { readonly key?: string } = {}) =>
  Effect.gen(function* () {
    const { key, ...rest } = options
    const said: Array<string> = []
    const console = yield* Console.consoleWith(Effect.succeed)
    yield* copyDatabase({ from: place(from), to: place(to), dryRun: false, json: true, ...rest }).pipe(
      Effect.provide(configAt("unused.db", key === undefined ? {} : { SERVICE_MASTER_KEY: key })),
      Effect.withConsole({ ...console, log: (line: unknown) => Effect.sync(() => void said.push(String(line))) })
    )
    return said.join("\n")
  })

const refusal = (from: string, to: string, options?: Parameters<typeof copy>[2]) =>
  Effect.map(Effect.flip(copy(from, to, options)), ({ message }) => message)

type Rows = Readonly<Record<string, ReadonlyArray<string>>>

const inOrder = (rows: ReadonlyArray<unknown>): ReadonlyArray<string> =>
  rows
    .map((row) =>
      JSON.stringify(row, (_, value: unknown) =>
        value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value
      )
    )
    .sort()

/** Every row of every table of a file, the derived ones included. */
const rowsAt = (path: string) =>
  Effect.scoped(
    Effect.map(rawAt(path, { readonly: true }), (database): Rows => {
      const tables = database
        .prepare<[], { name: string }>(
          "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
        )
        .all()
      return Object.fromEntries(
        tables.map(({ name }) => [name, inOrder(database.prepare(`SELECT * FROM ${name}`).all())])
      )
    })
  )

/** The tables that a copy changes, and the record of migrations, which has the time of each. */
const changed = ["instance", "sessions", "delegations", "login_codes", "effect_sql_migrations"]

const unchangedRows = (rows: Rows): Rows =>
  Object.fromEntries(Object.entries(rows).filter(([name]) => !changed.includes(name)))

const template = `${freshFolder()}/service.db`

beforeAll(() => Effect.runPromise(Effect.provide(Effect.scoped(fill), servicesAt(template))))

afterAll(() => {
  cleanUp()
})

/** A copy of the file that is filled once. */
const filledFile = Effect.tap(freshPath, (path) => Effect.sync(() => copyFileSync(template, path)))

const count = (database: string, table: string) =>
  onServer(database, async (client) => {
    const { rows } = await client.query<{ count: number }>(`SELECT count(*) AS count FROM ${table}`)
    return rows[0]?.count
  })

/** Runs an effect with the services over a PostgreSQL database. */
const onServerAt = <A, E>(
  name: string,
  effect: Effect.Effect<A, E, Services | Scope.Scope>,
  environment: Readonly<Record<string, string>> = {}
) =>
  Effect.flatMap(freshPath, (path) =>
    Effect.provide(Effect.scoped(effect), servicesIn({ name, path }, environment))
  ).pipe(Effect.scoped)

const strays = (path: string) => readdirSync(dirname(path)).filter((name) => name.startsWith("."))

describe("database copy", () => {
  it.live("moves everything from SQLite to PostgreSQL and back, where it works on", () =>
    Effect.gen(function* () {
      const path = yield* filledFile
      const before = yield* rowsAt(path)
      const { name, url } = yield* freshDatabase({ migrated: false })
      const moved = JSON.parse(yield* copy(path, url)) as Record<string, unknown>
      assert.deepInclude(moved, {
        from: path,
        dry_run: false,
        verified: { logs: 2, values: 100 },
        ended: { sessions: 2, codes: 1 }
      })
      assert.deepStrictEqual(yield* rowsAt(path), before, "the source is untouched")

      const back = join(dirname(path), "back.db")
      yield* copy(url, back)
      const after = yield* rowsAt(back)
      assert.deepStrictEqual(unchangedRows(after), unchangedRows(before))
      assert.deepStrictEqual(after["sessions"], [])
      assert.lengthOf(before["delegations"] ?? [], 1)
      assert.deepStrictEqual(after["delegations"], [])
      assert.notDeepEqual(after["instance"], before["instance"])
      assert.include(after["login_codes"]?.join(), "replaced")
      yield* invariants(back)
      assert.deepStrictEqual(strays(path), [])

      const write = Effect.gen(function* () {
        const ada = yield* person("ada@example.com")
        assert.strictEqual((yield* readSecret(ada, "CHANGED")).value, "three")
        assert.strictEqual((yield* readSecret(ada, "REFERS")).value, "three!")
        assert.strictEqual(yield* outcome(removeSecret(ada, "CHANGED")), "Conflict", "it is known what refers to it")
        yield* setSecret(ada, "AFTER", "it goes on")
        yield* organization("after", "move", "dora@example.com")
      })
      yield* onServerAt(name, write)
      assert.isAbove((yield* count(name, "audit_entries")) ?? 0, before["audit_entries"]?.length ?? 0)
      yield* Effect.provide(Effect.scoped(write), servicesAt(back))
      yield* invariants(back)

      // The source may work on: a token would be good in two places.
      const asDelegation = Effect.provide(outcome(identified({ token: delegation })), Authenticator.Default)
      assert.strictEqual(yield* Effect.provide(Effect.scoped(asDelegation), servicesAt(path)), "success")
      assert.strictEqual(yield* onServerAt(name, asDelegation), "Unauthorized")
    }).pipe(Effect.scoped)
  )

  it.live("copies within one engine too", () =>
    Effect.gen(function* () {
      const path = yield* filledFile
      const { url: one } = yield* freshDatabase({ migrated: false })
      const { url: two } = yield* freshDatabase()
      const last = join(dirname(path), "last.db")
      yield* copy(path, join(dirname(path), "second.db"))
      yield* copy(join(dirname(path), "second.db"), one)
      yield* copy(one, two)
      yield* copy(two, last)
      assert.deepStrictEqual(unchangedRows(yield* rowsAt(last)), unchangedRows(yield* rowsAt(path)))
    }).pipe(Effect.scoped)
  )

  it.live("says with --dry-run what it would copy, and changes nothing", () =>
    Effect.gen(function* () {
      const path = yield* filledFile
      const { name, url } = yield* freshDatabase()
      const said = yield* copy(path, url, { dryRun: true, json: false })
      assert.match(said, /^\d+ rows in \d+ tables can be copied from .*: nothing was changed$/)
      assert.notInclude(said, "postgres://")
      assert.strictEqual(yield* count(name, "users"), 0)
      assert.match(yield* copy(path, join(dirname(path), "new.db"), { dryRun: true }), /"dry_run":true/)
      assert.notInclude(readdirSync(dirname(path)), "new.db")
    }).pipe(Effect.scoped)
  )

  it.live("replaces what a server without users has written into the target", () =>
    Effect.gen(function* () {
      const path = yield* filledFile
      const { name, url } = yield* freshDatabase()
      yield* onServerAt(name, Effect.void, { SERVICE_MASTER_KEY: "ab".repeat(32) })
      yield* copy(path, url)
      yield* onServerAt(
        name,
        Effect.flatMap(person("ada@example.com"), (ada) => readSecret(ada, "CHANGED"))
      )
    }).pipe(Effect.scoped)
  )

  it.live("refuses a non-empty target, and leaves it as it is", () =>
    Effect.gen(function* () {
      const path = yield* filledFile
      const { name, url } = yield* freshDatabase()
      yield* onServerAt(name, person("eve@example.com"))
      assert.match(yield* refusal(path, url), /is not empty, it has a user: name an empty database/)
      assert.strictEqual(yield* count(name, "users"), 1)
      assert.match(yield* refusal(url, path), /already exists: name a new file/)
    }).pipe(Effect.scoped)
  )

  it.live("refuses a source or a target that a server uses", () =>
    Effect.gen(function* () {
      const path = yield* filledFile
      const { name, url } = yield* freshDatabase()
      const inUse = yield* Effect.scoped(Effect.zipRight(offlineDatabase(path), refusal(path, url)))
      assert.match(inUse, /is in use by another coffer-server/)
      yield* copy(path, url)
      yield* onServer(name, (client) =>
        client.query(`
          INSERT INTO instances (id, host, pid, version, schema, started_at, seen_at)
          SELECT 'a', 'here', 1, '', 1, now, now FROM to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS now`)
      )
      const target = join(dirname(path), "back.db")
      assert.match(
        yield* refusal(url, target),
        /a server runs on the database .* \(process 1 on here\): stop all servers/
      )
      assert.match(
        yield* refusal(path, url),
        /a server runs on the database .* \(process 1 on here\): stop all servers/
      )
      assert.notInclude(readdirSync(dirname(path)), "back.db")
    }).pipe(Effect.scoped)
  )

  it.live("refuses another master key before it copies, and a missing source", () =>
    Effect.gen(function* () {
      const path = yield* filledFile
      const { name, url } = yield* freshDatabase()
      assert.match(yield* refusal(path, url, { key: "ab".repeat(32) }), /SERVICE_MASTER_KEY does not open/)
      assert.match(yield* refusal(`${path}.gone`, url), /there is no database at/)
      assert.strictEqual(yield* count(name, "instance"), 0)
      assert.notInclude(readdirSync(dirname(path)), "service.db.gone")
    }).pipe(Effect.scoped)
  )

  for (const table of ["instance", "secret_versions", "audit_entries", "drills"]) {
    it.live(`leaves the target empty when its connection is lost while ${table} is copied`, () =>
      Effect.gen(function* () {
        const path = yield* filledFile
        const { name, url } = yield* freshDatabase()
        yield* onServer(name, (client) =>
          client.query(`
            CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END';
            CREATE TRIGGER die BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION die()`)
        )
        assert.match(yield* refusal(path, url), /terminating connection.*as it was before/)
        for (const one of ["instance", "organizations", "secret_versions", "audit_entries"]) {
          assert.strictEqual(yield* count(name, one), 0, one)
        }
        yield* onServer(name, (client) => client.query(`DROP TRIGGER die ON ${table}`))
        yield* copy(path, url)
      }).pipe(Effect.scoped)
    )
  }

  it.live("refuses a source whose audit log does not verify, and leaves no row and no file", () =>
    Effect.gen(function* () {
      const path = yield* filledFile
      const { name, url } = yield* freshDatabase()
      yield* copy(path, url)
      yield* onServer(name, (client) =>
        client.query(`
          ALTER TABLE audit_entries DISABLE TRIGGER USER;
          UPDATE audit_entries SET metadata = '{"edited":true}' WHERE seq = 2;
          ALTER TABLE audit_entries ENABLE TRIGGER USER`)
      )
      const target = join(dirname(path), "back.db")
      assert.match(yield* refusal(url, target), /audit log .* does not verify from entry/)
      assert.notInclude(readdirSync(dirname(path)), "back.db")
      assert.deepStrictEqual(strays(path), [])
      const { name: second, url: other } = yield* freshDatabase()
      assert.match(yield* refusal(url, other), /audit log .* does not verify from entry/)
      assert.strictEqual(yield* count(second, "users"), 0)
    }).pipe(Effect.scoped)
  )

  it.live("has a rule for every table that it does not copy, and no rule for another", () =>
    Effect.gen(function* () {
      const path = yield* freshPath
      yield* Effect.provide(Effect.void, servicesAt(path))
      const { name, url } = yield* freshDatabase()
      const { rows } = yield* onServer(name, (client) =>
        client.query<{ relname: string }>(
          "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'"
        )
      )
      const tables = [...Object.keys(yield* rowsAt(path)), ...rows.map(({ relname }) => relname)]
      for (const table of Object.keys(notCopied)) assert.include(tables, table)
      yield* onServer(name, (client) => client.query("CREATE TABLE unheard (id TEXT)"))
      assert.match(yield* refusal(yield* filledFile, url), /the table unheard is in only one of the databases/)
    }).pipe(Effect.scoped)
  )
})
