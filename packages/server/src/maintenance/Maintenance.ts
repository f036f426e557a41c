import { SqlClient } from "@effect/sql"
import { Effect, Layer, Schedule, Schema } from "effect"
import { sessionMillis } from "../auth/Sessions.js"
import { Erasures } from "../database/Erasure.js"
import { Reader } from "../database/Reader.js"
import { ago } from "../database/Time.js"
import { rowsOf } from "../database/Writer.js"
import { truncateWriteAheadLog } from "../database/WriteAheadLog.js"
import { WrapBudget } from "../keys/WrapBudget.js"
import { forEachInTurns, turn } from "../Turn.js"

const hourMillis = 60 * 60 * 1000

/** How many rows one transaction removes, or one statement reads. */
const slice = 200

/** The tables whose rows are of no use after a time. */
type Aging = "sessions" | "login_codes" | "login_failures" | "rate_events"

const IdRow = Schema.Struct({ id: Schema.String })
const OptimizeRow = Schema.Struct({ optimize: Schema.String })
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

    /** Removes the rows of a table that are older than a time: a few in each transaction, with other work in between. */
    const remove = (table: Aging, until: string): Effect.Effect<void> =>
      rowsOf(IdRow)(
        sql.unsafe(
          `DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE created_at <= ? LIMIT ?) RETURNING id`,
          [until, slice]
        )
      ).pipe(
        sql.withTransaction,
        Effect.orDie,
        Effect.flatMap((removed) =>
          removed.length < slice ? Effect.void : Effect.zipRight(turn, remove(table, until))
        )
      )

    const tidy = Effect.gen(function* () {
      const sessionsBornBy = yield* ago(sessionMillis)
      const anHourAgo = yield* ago(hourMillis)
      yield* remove("sessions", sessionsBornBy)
      yield* remove("login_codes", anHourAgo)
      yield* remove("login_failures", anHourAgo)
      yield* remove("rate_events", anHourAgo)
    })

    /** Tells the planner how large the tables are, one table after another: an analysis of all of them takes long. */
    const optimize = Effect.gen(function* () {
      yield* sql`PRAGMA analysis_limit = 200`
      for (const statement of yield* rowsOf(OptimizeRow)(sql`PRAGMA optimize(-1)`)) {
        yield* sql.unsafe(statement.optimize)
        yield* turn
      }
    }).pipe(Effect.orDie)

    /** Behind a log: there is a head for each organization that ever was. */
    const logHeadsAfter = (after: string): Effect.Effect<void> =>
      Effect.flatMap(
        heads("SELECT log, seq, chain FROM audit_heads WHERE log > ? ORDER BY log LIMIT ?", [after, slice]),
        (rows) =>
          Effect.zipRight(
            forEachInTurns(rows, ({ chain, log, seq }) => Effect.logInfo(`audit head of ${log}: ${seq} ${chain}`)),
            Effect.suspend(() => {
              const last = rows.at(-1)
              return last === undefined || rows.length < slice
                ? Effect.void
                : Effect.zipRight(turn, logHeadsAfter(last.log))
            })
          )
      )
    const logHeads = logHeadsAfter("")

    /** One round. */
    const sweep = Effect.gen(function* () {
      yield* tidy
      yield* logHeads
      yield* wraps.count
      yield* optimize
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
