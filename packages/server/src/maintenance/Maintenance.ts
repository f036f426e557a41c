import { SqlClient } from "@effect/sql"
import { Effect, Layer, Schedule, Schema } from "effect"
import { sessionMillis } from "../auth/Sessions.js"
import { Erasures } from "../database/Erasure.js"
import { Reader } from "../database/Reader.js"
import { ago } from "../database/Time.js"
import { transaction } from "../database/Writer.js"
import { truncateWriteAheadLog } from "../database/WriteAheadLog.js"
import { WrapBudget } from "../keys/WrapBudget.js"

const hourMillis = 60 * 60 * 1000

const HeadRow = Schema.Struct({ log: Schema.String, seq: Schema.Number, chain: Schema.String })

/**
 * The hourly housekeeping: sessions over 30 days of age go, and login codes, failures and counted events over an hour,
 * which is what limits still look at. The heads of the audit logs are logged, for whoever keeps logs elsewhere.
 */
export class Maintenance extends Effect.Service<Maintenance>()("@coffer/server/Maintenance", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const reader = yield* Reader
    const wraps = yield* WrapBudget
    const erasures = yield* Erasures
    const heads = reader.rows(HeadRow)

    const tidy = Effect.gen(function* () {
      const sessionsBornBy = yield* ago(sessionMillis)
      const anHourAgo = yield* ago(hourMillis)
      yield* transaction(
        Effect.gen(function* () {
          yield* sql`DELETE FROM sessions WHERE created_at <= ${sessionsBornBy}`
          yield* sql`DELETE FROM login_codes WHERE created_at <= ${anHourAgo}`
          yield* sql`DELETE FROM login_failures WHERE created_at <= ${anHourAgo}`
          yield* sql`DELETE FROM rate_events WHERE created_at <= ${anHourAgo}`
        })
      )
    })

    const logHeads = Effect.flatMap(heads("SELECT log, seq, chain FROM audit_heads ORDER BY log", []), (rows) =>
      Effect.forEach(rows, ({ chain, log, seq }) => Effect.logInfo(`audit head of ${log}: ${seq} ${chain}`), {
        discard: true
      })
    )

    /** One round. */
    const sweep = Effect.gen(function* () {
      yield* tidy
      yield* logHeads
      yield* wraps.count
      yield* Effect.orDie(sql`PRAGMA optimize`)
      yield* truncateWriteAheadLog
      yield* erasures.finish
    }).pipe(Effect.withSpan("Maintenance.sweep"))

    return { sweep } as const
  })
}) {}

/** A round at the start and every hour; one that fails is logged, and the next one comes all the same. */
export const MaintenanceLive = Layer.scopedDiscard(
  Effect.gen(function* () {
    const { sweep } = yield* Maintenance
    yield* sweep.pipe(
      Effect.catchAllCause((cause) => Effect.logError("maintenance failed", cause)),
      Effect.repeat(Schedule.spaced("1 hour")),
      Effect.forkScoped
    )
  })
).pipe(Layer.provide(Maintenance.Default))
