import { AuditLog } from "@coffer/server/audit/AuditLog"
import { makeLogWatch } from "@coffer/server/audit/LogWatch"
import { SqlClient, type SqlError } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { onDamaged, onEverything } from "../model/Support.js"
import { logged } from "../support/Logged.js"
import { openToChanges } from "../support/Refusing.js"
import { outcome } from "../support/Services.js"
import { newOrganization, write } from "../trail/Support.js"

type Damage = (sql: SqlClient.SqlClient, log: string) => Effect.Effect<unknown, SqlError.SqlError>

const entries: Damage = (sql, log) => sql`DELETE FROM audit_entries WHERE log = ${log}`
const newest: Damage = (sql, log) => sql`DELETE FROM audit_entries WHERE log = ${log} AND seq > 2`
const head: Damage = (sql, log) => sql`DELETE FROM audit_heads WHERE log = ${log}`

const damages: Readonly<Record<string, Damage>> = {
  "a whole log was removed": (sql, log) => Effect.zipRight(entries(sql, log), head(sql, log)),
  "the newest entries of a log were removed": newest,
  "all entries of a log were removed": entries,
  "the head of a log was removed": head
}

/** More logs than one look takes. */
const logs = 130

describe("readiness", () => {
  for (const [what, damage] of Object.entries(damages)) {
    it.live(`ends when ${what} behind the server's back, before anything is written to that log`, () => {
      const { layer, lines } = logged()
      return Effect.gen(function* () {
        const acme = yield* newOrganization("acme")
        const other = yield* newOrganization("other")
        for (let n = 0; n < 3; n++) yield* write(acme.id, { n })
        yield* openToChanges
        const { ready } = yield* AuditLog
        assert.strictEqual(yield* outcome(ready), "success")
        yield* damage(yield* SqlClient.SqlClient, acme.id)
        yield* write(other.id)
        assert.strictEqual(yield* outcome(ready), "success", "it looks once a second")
        yield* Effect.sleep("1100 millis")
        for (let n = 0; n < 2; n++) assert.strictEqual(yield* outcome(ready), "NotReady")
        const said = lines.filter((line) =>
          line.startsWith("ERROR another program removed entries of the audit log of")
        )
        assert.lengthOf(said, 1)
        assert.include(said[0], acme.id)
      }).pipe(onDamaged, Effect.provide(layer))
    })
  }
})

describe("a look for removed logs", () => {
  it.live("finds no removed log while many logs begin and are written to", () =>
    Effect.gen(function* () {
      const removed = yield* makeLogWatch
      const writers = Effect.forEach(
        Array.from({ length: 12 }, (_, n) => n),
        (n) =>
          Effect.flatMap(newOrganization(`org-${n}`), ({ id }) =>
            Effect.forEach([1, 2, 3, 4], (round) => write(id, { n: round }), { discard: true })
          ),
        { concurrency: 3, discard: true }
      )
      const looks = Effect.forever(
        Effect.flatMap(removed, (found) => (found.length === 0 ? Effect.sleep("2 millis") : Effect.fail(found)))
      )
      yield* Effect.raceFirst(writers, looks)
    }).pipe(onEverything)
  )

  it.live("goes through all logs, a page at a time", () =>
    Effect.gen(function* () {
      let last = ""
      for (let n = 0; n < logs; n++) last = (yield* newOrganization(`org-${n}`)).id
      yield* openToChanges
      const sql = yield* SqlClient.SqlClient
      yield* head(sql, last)
      const removed = yield* makeLogWatch
      assert.deepStrictEqual([yield* removed, yield* removed, yield* removed], [[], [last], []])
    }).pipe(onDamaged)
  )
})
