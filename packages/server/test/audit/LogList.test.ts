import { check } from "@coffer/server/operations/check/Check"
import { SqlClient, type SqlError } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Console, Effect } from "effect"
import { everythingIn, onDamaged, onEverything } from "../model/Support.js"
import { earlierCheck } from "../support/EarlierCheck.js"
import { logged } from "../support/Logged.js"
import { closing, openToChanges } from "../support/Refusing.js"
import { serverUrl } from "../support/postgres/Databases.js"
import { freshPlace, masterKey } from "../support/Services.js"
import { entriesOf, type Log, newOrganization, verify, verifyAll, write } from "../trail/Support.js"

const removeLog = (sql: SqlClient.SqlClient, log: string) =>
  Effect.zipRight(sql`DELETE FROM audit_entries WHERE log = ${log}`, sql`DELETE FROM audit_heads WHERE log = ${log}`)

/** Removes everything that names an organization but the list of logs. */
const removeAll = (sql: SqlClient.SqlClient, { id }: Log) =>
  Effect.gen(function* () {
    yield* removeLog(sql, id)
    for (const table of ["audit_actors", "audit_indexed"]) {
      yield* sql`DELETE FROM ${sql(table)} WHERE log = ${id}`
    }
    yield* sql`DELETE FROM members WHERE org_id = ${id}`
    yield* sql`DELETE FROM organizations WHERE id = ${id}`
  })

const numberOf = (sql: SqlClient.SqlClient, log: string) =>
  Effect.map(sql<{ number: number }>`SELECT number FROM audit_logs WHERE log = ${log}`, ([row]) => row!.number)

/** Three organizations and the server's own log, open to whoever can write the database. */
const scene = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [acme, other, third] = [
    yield* newOrganization("acme"),
    yield* newOrganization("other"),
    yield* newOrganization("third")
  ]
  yield* write(null)
  assert.deepInclude(yield* verifyAll(), { valid: true, entries: 1 })
  yield* openToChanges
  return { acme, other, third, sql }
})

/** Damage to the list, the first number that does not fit, and whether the end changes. The server's log is the fourth. */
const damages: Readonly<
  Record<
    string,
    readonly [
      damage: (sql: SqlClient.SqlClient) => Effect.Effect<unknown, SqlError.SqlError>,
      first: number,
      isEndChanged: boolean
    ]
  >
> = {
  "a row removed": [(sql) => sql`DELETE FROM audit_logs WHERE number = 2`, 2, false],
  "the first row removed": [(sql) => sql`DELETE FROM audit_logs WHERE number = 1`, 1, false],
  "the last row removed": [(sql) => sql`DELETE FROM audit_logs WHERE number = 4`, 4, true],
  "the last two rows removed": [(sql) => sql`DELETE FROM audit_logs WHERE number > 2`, 3, true],
  "every row removed": [(sql) => sql`DELETE FROM audit_logs`, 1, true],
  "a row removed, and those behind it moved up": [
    (sql) =>
      Effect.zipRight(
        sql`DELETE FROM audit_logs WHERE number = 2`,
        Effect.forEach([3, 4], (number) => sql`UPDATE audit_logs SET number = ${number - 1} WHERE number = ${number}`)
      ),
    2,
    true
  ],
  "a row that names another log": [(sql) => sql`UPDATE audit_logs SET log = 'none' WHERE number = 2`, 2, false],
  "a row with another time": [(sql) => sql`UPDATE audit_logs SET created_at = '' WHERE number = 3`, 3, false],
  "a link changed": [(sql) => sql`UPDATE audit_logs SET chain = ${"f".repeat(64)} WHERE number = 4`, 4, true],
  "a row added": [
    (sql) => sql`INSERT INTO audit_logs (number, log, created_at, chain) SELECT 5, 'none', created_at, chain
      FROM audit_logs WHERE number = 4`,
    5,
    true
  ]
}

describe("a whole log that was removed", () => {
  it.live("is named although its organization was removed with all of its rows", () =>
    Effect.gen(function* () {
      const { acme, other, sql } = yield* scene
      yield* removeAll(sql, acme)
      assert.deepInclude(yield* verifyAll(), { valid: false, first_invalid_seq: null, missing: [acme.id] })
      assert.deepInclude(yield* verifyAll({}, acme.id), { valid: false, first_invalid_seq: 1 })
      assert.isTrue((yield* verify(other)).valid)
    }).pipe(onDamaged)
  )

  it.live("is noticed if it is the server's own, also after the next entry and by the next server", () =>
    Effect.gen(function* () {
      const { layer, lines } = logged()
      const place = yield* freshPlace
      const onServer = <A, E, R>(test: Effect.Effect<A, E, R>) =>
        Effect.provide(Effect.scoped(test), everythingIn(place))
      const broken = { valid: false, first_invalid_seq: 1 }
      yield* onServer(
        Effect.gen(function* () {
          const close = yield* closing
          const { sql } = yield* scene
          yield* removeLog(sql, "system")
          assert.deepInclude(yield* verifyAll(), broken)
          yield* close
        })
      )
      yield* onServer(
        Effect.gen(function* () {
          assert.deepInclude(yield* verifyAll(), broken)
          yield* write(null)
          assert.deepStrictEqual(
            (yield* entriesOf(null)).map(({ action }) => action),
            ["audit.break", "secret.set"]
          )
          assert.deepInclude(yield* verifyAll(), broken)
        })
      ).pipe(Effect.provide(layer))
      assert.isTrue(lines.some((line) => /^ERROR the audit log of system does not end/.test(line)))
      yield* onServer(Effect.map(verifyAll(), (found) => assert.deepInclude(found, broken)))
    }).pipe(Effect.scoped)
  )

  it.live("is noticed if its row in the list was removed too", () =>
    Effect.gen(function* () {
      const { other, sql } = yield* scene
      const number = yield* numberOf(sql, other.id)
      yield* removeAll(sql, other)
      yield* sql`DELETE FROM audit_logs WHERE log = ${other.id}`
      assert.deepInclude(yield* verifyAll(), { valid: false, first_invalid_seq: null, first_invalid_log: number })
    }).pipe(onDamaged)
  )
})

describe("a list of logs that another program changed", () => {
  for (const [what, [damage, first, isEndChanged]] of Object.entries(damages)) {
    it.live(`never verifies again: ${what}`, () => {
      const { layer, lines } = logged()
      return Effect.gen(function* () {
        const { acme, sql } = yield* scene
        yield* damage(sql)
        const broken = { valid: false, first_invalid_seq: null, first_invalid_log: first }
        assert.deepInclude(yield* verifyAll(), broken)
        assert.isTrue((yield* verify(acme)).valid, "the log itself is whole")

        // Others begin as before, and are still missed when they are removed.
        const fourth = yield* newOrganization("fourth")
        const fifth = yield* newOrganization("fifth")
        assert.deepInclude(yield* verifyAll(), broken)
        assert.isTrue((yield* verify(fourth)).valid)
        yield* removeAll(sql, fifth)
        assert.deepInclude(yield* verifyAll(), { ...broken, missing: [fifth.id] })
        assert.strictEqual(
          lines.some((line) => /^ERROR the list of audit logs does not end/.test(line)),
          isEndChanged
        )
      }).pipe(onDamaged, Effect.provide(layer))
    })
  }
})

describe("the list of logs", () => {
  it.live("has every log, however many begin at the same time", () =>
    Effect.gen(function* () {
      const names = Array.from({ length: 12 }, (_, n) => `org-${n}`)
      yield* Effect.forEach(names, (name) => newOrganization(name), { concurrency: "unbounded" })
      yield* write(null)
      const sql = yield* SqlClient.SqlClient
      const [row] = yield* sql<{ logs: number }>`SELECT max(number) AS logs FROM audit_logs`
      assert.strictEqual(row?.logs, names.length + 1)
      assert.deepInclude(yield* verifyAll(), { valid: true, entries: 1 })
    }).pipe(onEverything)
  )

  it.live("is made by the first server of a release with it, and then cannot be begun again", () =>
    Effect.gen(function* () {
      const place = yield* freshPlace
      const onServer = <A, E, R>(test: Effect.Effect<A, E, R>) =>
        Effect.provide(Effect.scoped(test), everythingIn(place))
      yield* onServer(
        Effect.gen(function* () {
          const close = yield* closing
          const { sql } = yield* scene
          yield* sql`DELETE FROM audit_logs`
          yield* earlierCheck(sql)
          yield* newOrganization("late")
          assert.isTrue((yield* verifyAll()).valid, "there is no list yet")
          yield* close
        })
      )
      const acme = yield* onServer(
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          assert.strictEqual((yield* sql`SELECT log FROM audit_logs`).length, 5)
          assert.isTrue((yield* verifyAll()).valid)
          const close = yield* closing
          yield* openToChanges
          const [acme] = yield* sql<{ id: Log["id"] }>`SELECT id FROM organizations WHERE name = 'acme'`
          yield* removeLog(sql, acme!.id)
          yield* sql`DELETE FROM audit_logs`
          yield* close
          return acme!
        })
      )
      yield* onServer(
        Effect.map(verifyAll(), (found) =>
          assert.deepInclude(found, { valid: false, first_invalid_log: 1, missing: [acme.id] })
        )
      )
    }).pipe(Effect.scoped)
  )

  it.live("is checked by coffer-server check, beside the server", () =>
    Effect.gen(function* () {
      const { name, path } = yield* freshPlace
      const found = Effect.gen(function* () {
        const said: Array<string> = []
        const console = yield* Console.consoleWith(Effect.succeed)
        const log = (line: unknown) => Effect.sync(() => void said.push(String(line)))
        yield* check(
          {
            SERVICE_MASTER_KEY: masterKey,
            SMTP_HOST: "log",
            ...(name === null ? { SERVICE_DB_PATH: path } : { SERVICE_DATABASE_URL: `${serverUrl()}/${name}` })
          },
          { json: true, mailTo: null }
        ).pipe(Effect.withConsole({ ...console, log }))
        const { checks } = JSON.parse(said.join("")) as { checks: ReadonlyArray<Readonly<Record<string, string>>> }
        return checks.filter((finding) => finding["name"] === "audit").map(({ message, status }) => [status, message])
      })
      yield* Effect.gen(function* () {
        const { acme, sql } = yield* scene
        assert.deepStrictEqual(yield* found, [])
        yield* removeAll(sql, acme)
        const missing = `the whole audit log is missing of ${acme.id}`
        assert.deepStrictEqual(yield* found, [["failed", missing]])
        yield* sql`DELETE FROM audit_logs WHERE number = 4`
        assert.deepStrictEqual(yield* found, [["failed", `${missing}; the list of audit logs was changed at number 4`]])
      }).pipe(Effect.scoped, Effect.provide(everythingIn({ name, path })))
    }).pipe(Effect.scoped)
  )
})
