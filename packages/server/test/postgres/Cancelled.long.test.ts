import { AuditLog } from "@coffer/server/audit/AuditLog"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { changes, withPeople, world } from "../database/Changes.js"
import { cancelled } from "../support/postgres/Faults.js"
import { failing, Faults, onDatabase } from "../support/Services.js"

/** A digest of all tables but the audit log, and how many entries that has. */
const contents = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const tables = yield* sql<{ name: string }>`
    SELECT relname AS name FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname NOT LIKE 'audit_%' ORDER BY 1`
  const digests = yield* Effect.forEach(
    tables,
    ({ name }) =>
      sql<{
        digest: string | null
      }>`SELECT md5(string_agg(t::text, ' ' ORDER BY t::text)) AS digest FROM ${sql(name)} t`
  )
  const [row] = yield* sql<{ entries: number }>`SELECT count(*) AS entries FROM audit_entries`
  return { digests: JSON.stringify(digests), entries: Number(row?.entries) }
})

describe("a cancelled statement, whichever it is,", () => {
  for (const [what, change] of Object.entries(changes)) {
    it.effect(`of ${what} leaves all of it, with its entries, or nothing`, () =>
      Effect.gen(function* () {
        const made = yield* world
        ;(yield* Faults).instead = cancelled
        const { flush } = yield* AuditLog
        yield* flush
        let delayed = 0
        for (let statement = 1; ; statement++) {
          const before = yield* contents
          const { exit, hit } = yield* failing(statement, change(made))
          yield* flush
          const after = yield* contents
          if (Exit.isFailure(exit)) {
            assert.isTrue(hit, "it fails for no other reason")
            assert.deepStrictEqual(after, before, `statement ${statement}`)
            continue
          }
          assert.notStrictEqual(after.digests, before.digests, `statement ${statement}`)
          assert.isAbove(after.entries, before.entries, `statement ${statement}: the change has no entry`)
          if (hit) delayed++
          break
        }
        assert.strictEqual(delayed, 1, "the first statement of the entry does not fail the change")
      }).pipe(withPeople, Effect.withTracerEnabled(false), onDatabase())
    )
  }
})
