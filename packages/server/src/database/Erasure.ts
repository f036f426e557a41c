import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { holdsAny } from "./Remnants.js"
import { truncateWriteAheadLog } from "./WriteAheadLog.js"
import { rowsOf, transaction } from "./Writer.js"

const CountRow = Schema.Struct({ user_version: Schema.Number })

/**
 * How many erasures are not done yet. The count is in the file's own header: it changes with the transaction that lets go of
 * something, and a server that is killed before the bytes are gone finds it when it starts again.
 */
const pending = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(Effect.orDie(rowsOf(CountRow)(sql.unsafe("PRAGMA user_version"))), ([row]) => row?.user_version ?? 0)
)

const addPending = (count: number) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const before = yield* pending
    yield* Effect.orDie(sql.unsafe(`PRAGMA user_version = ${Math.max(0, before + count)}`))
  })

/** Belongs into the transaction that lets go of what `erase` then sees off. */
export const beginErasure = addPending(1)

const rewrite = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.orDie(sql`VACUUM`)
  yield* truncateWriteAheadLog
})

/** Those of this process that are not over: they are not cut short. */
let underWay = 0

/** Sees to it that what was let go of is in no byte of the database: its log, its pages and their gaps. */
export const erase = (dbPath: string, needles: ReadonlyArray<Uint8Array>) =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      underWay++
    }),
    () =>
      Effect.gen(function* () {
        yield* truncateWriteAheadLog
        if (yield* holdsAny(dbPath, needles)) yield* rewrite
        // They are gone: a count that stays costs one more rewriting.
        yield* Effect.catchAllCause(transaction(addPending(-1)), (cause) =>
          Effect.logWarning("an erasure is done, and could not be noted as done", cause)
        )
      }),
    () =>
      Effect.sync(() => {
        underWay--
      })
  )

/** Does what is left of erasures that were cut short: nobody knows any more what to look for, so all is written anew. */
export const finishErasures = Effect.gen(function* () {
  const count = (yield* pending) - underWay
  if (count <= 0) return
  yield* truncateWriteAheadLog
  yield* rewrite
  yield* transaction(addPending(-count))
  yield* Effect.logInfo("an erasure of secrets that was cut short is done now")
})
