import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Metric } from "effect"
import { AuditLog } from "@coffer/server/audit/AuditLog"
import { auditFailures } from "@coffer/server/audit/GroupAppends"
import {
  entries,
  envPath,
  onDamagedDatabase,
  onDatabase,
  organization,
  outcome,
  readSecret,
  setSecret
} from "../support/Services.js"
import { refusing } from "../support/Refusing.js"

const other = envPath("prod", "webshop", "other")

/** Two organizations, each with a secret. */
const world = Effect.gen(function* () {
  const ada = yield* organization("acme")
  const bob = yield* organization("other", "webshop", "bob@example.com")
  yield* setSecret(ada, "A", "x")
  yield* setSecret(bob, "A", "x", { path: other })
  yield* (yield* AuditLog).flush
  return { ada, bob }
})

const idOf = (org: string) =>
  Effect.map(
    Effect.flatMap(SqlClient.SqlClient, (sql) => sql<{ id: string }>`SELECT id FROM organizations WHERE name = ${org}`),
    ([row]) => row!.id
  )

const count = (log: string, action: string) =>
  Effect.map(entries(log), (all) => all.filter((entry) => entry.action === action).length)

const failures = Effect.map(Metric.value(auditFailures), ({ count }) => count)

const readiness = Effect.flatMap(AuditLog, ({ ready }) => outcome(ready))

const rounds = Array.from({ length: 10 }, (_, n) => n)

describe("a failure of the audit reaches no further than it must", () => {
  for (const table of ["audit_entries", "audit_heads"]) {
    it.effect(`where ${table} takes nothing of one log: others in the same commit have their entries`, () =>
      Effect.gen(function* () {
        const { ada, bob } = yield* world
        const heal = yield* refusing({ table, on: ["INSERT", "UPDATE"], when: `NEW.log = '${yield* idOf("other")}'` })
        const before = yield* failures
        // Together, so that both organizations' entries are in the same commits and in the same batches of reads.
        yield* Effect.forEach(
          rounds,
          () =>
            Effect.all([
              setSecret(ada, "A", "y"),
              setSecret(bob, "A", "y", { path: other }),
              readSecret(ada, "A"),
              readSecret(bob, "A", { path: other })
            ]),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(yield* count("acme", "secret.set"), 1 + rounds.length)
        assert.strictEqual(yield* count("acme", "secret.read"), rounds.length)
        assert.strictEqual(yield* count("other", "secret.set"), 1)
        assert.strictEqual((yield* failures) - before, 2 * rounds.length)
        assert.strictEqual(yield* readiness, "NotReady", "although the last append, to another log, went well")
        yield* heal
        assert.strictEqual(yield* readiness, "success")
      }).pipe(onDatabase())
    )
  }

  it.effect("where one entry is refused: other changes of the same log and commit have theirs", () =>
    Effect.gen(function* () {
      const { ada } = yield* world
      const heal = yield* refusing({ table: "audit_entries", when: `NEW.metadata LIKE '%"BAD"%'` })
      yield* Effect.forEach(rounds, (n) => setSecret(ada, n === 4 ? "BAD" : `K${n}`, "x"), {
        concurrency: "unbounded"
      })
      for (const n of rounds) yield* readSecret(ada, n === 7 ? "BAD" : "K1")
      yield* (yield* AuditLog).flush
      yield* heal
      assert.strictEqual(yield* count("acme", "secret.set"), 1 + rounds.length - 1)
      assert.strictEqual(yield* count("acme", "secret.read"), rounds.length - 1)
      assert.strictEqual((yield* readSecret(ada, "BAD")).value, "x", "the change itself is kept")
    }).pipe(onDatabase())
  )

  it.effect("where a head row is damaged: its log goes on, and so do the others", () =>
    Effect.gen(function* () {
      const { ada, bob } = yield* world
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE audit_heads SET seq = 1 WHERE log = ${yield* idOf("other")}`
      yield* Effect.forEach(
        rounds,
        () => Effect.all([setSecret(ada, "A", "y"), setSecret(bob, "A", "y", { path: other })]),
        { concurrency: "unbounded" }
      )
      for (const org of ["acme", "other"]) {
        assert.strictEqual(yield* count(org, "secret.set"), 1 + rounds.length, org)
        assert.strictEqual(yield* count(org, "audit.break"), org === "other" ? 1 : 0, org)
      }
      assert.strictEqual(yield* readiness, "NotReady")
    }).pipe(onDamagedDatabase())
  )
})
