import { Effect, Layer, Schedule, Schema } from "effect"
import { sessionMillis } from "../auth/Sessions.js"
import { Database } from "../database/Database.js"
import { Erasures } from "../database/Erasures.js"
import { query, type Sql, sql } from "../database/Query.js"
import { ago } from "../database/Time.js"
import { WrapBudget } from "../keys/WrapBudget.js"
import { forEachInSlices, nextTick } from "../EventLoop.js"

const hourMillis = 60 * 60 * 1000

/** How many rows one transaction removes, or one statement reads. */
const slice = 200

const IdRow = Schema.Struct({ id: Schema.String })
const HeadRow = Schema.Struct({ log: Schema.String, seq: Schema.Number, chain: Schema.String })

/**
 * The hourly housekeeping: sessions over 30 days of age go, and login codes, failures and counted events over an hour,
 * which is what limits still look at. The heads of the audit logs are logged, for whoever keeps logs elsewhere.
 */
export class Maintenance extends Effect.Service<Maintenance>()("@coffer/server/Maintenance", {
  effect: Effect.gen(function* () {
    const { maintain, transaction } = yield* Database
    const { all, returning } = yield* query
    const wraps = yield* WrapBudget
    const erasures = yield* Erasures

    const headsBehind = all(HeadRow)`
      SELECT log, seq, chain FROM audit_heads WHERE log > ${"after"} ORDER BY log LIMIT ${"limit"}`

    /** Removes some rows of a table that are older than a time. */
    const removal = (table: Sql<never>) =>
      returning(IdRow)`
        DELETE FROM ${table} WHERE id IN (SELECT id FROM ${table} WHERE created_at <= ${"until"} LIMIT ${"limit"})
        RETURNING id`

    const removals = {
      sessions: removal(sql`sessions`),
      codes: removal(sql`login_codes`),
      failures: removal(sql`login_failures`),
      events: removal(sql`rate_events`)
    }

    /** Removes all of them: a few in each transaction, with other work in between. */
    const remove = (table: keyof typeof removals, until: string): Effect.Effect<void> =>
      Effect.flatMap(transaction(removals[table]({ until, limit: slice })), (removed) =>
        removed.length < slice ? Effect.void : Effect.zipRight(nextTick, remove(table, until))
      )

    const tidy = Effect.gen(function* () {
      const sessionsBornBy = yield* ago(sessionMillis)
      const anHourAgo = yield* ago(hourMillis)
      yield* remove("sessions", sessionsBornBy)
      yield* remove("codes", anHourAgo)
      yield* remove("failures", anHourAgo)
      yield* remove("events", anHourAgo)
    })

    /** Behind a log: there is a head for each organization that ever was. */
    const logHeadsAfter = (after: string): Effect.Effect<void> =>
      Effect.flatMap(headsBehind({ after, limit: slice }), (rows) =>
        Effect.zipRight(
          forEachInSlices(rows, ({ chain, log, seq }) => Effect.logInfo(`audit head of ${log}: ${seq} ${chain}`)),
          Effect.suspend(() => {
            const last = rows.at(-1)
            return last === undefined || rows.length < slice
              ? Effect.void
              : Effect.zipRight(nextTick, logHeadsAfter(last.log))
          })
        )
      )
    const logHeads = logHeadsAfter("")

    /** One round. */
    const sweep = Effect.gen(function* () {
      yield* tidy
      yield* logHeads
      yield* wraps.count
      yield* maintain
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
