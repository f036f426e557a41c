import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { forEachInSlices, nextTick } from "../../base/EventLoop.js"
import { Database } from "../../database/Database.js"
import { Erasures } from "../../database/Erasures.js"
import { Jobs } from "../../database/jobs/Jobs.js"
import type { Fenced } from "../../database/jobs/Lease.js"
import type { Ending } from "../../database/jobs/Purge.js"
import { query } from "../../database/Query.js"
import { WrapBudget } from "../../keys/WrapBudget.js"
import { makeErasing } from "../../secrets/trash/Erasing.js"
import { expiries, purges } from "./Endings.js"

const hourly = { every: "1 hour", lease: "2 minutes" } as const

/** How many heads of logs one statement reads. */
const batchSize = 200

const HeadRow = Schema.Struct({ log: Schema.String, seq: Schema.Number, chain: Schema.String })

const runAll = (endings: ReadonlyArray<Ending>, fenced: Fenced) =>
  Effect.forEach(endings, ({ run }) => run(fenced), { discard: true })

/**
 * The hourly maintenance. Does what has ended, or ends soon, by the lists of `Endings.ts`. Erases removed places that nothing brings
 * back. Logs the heads of the audit logs, so that copies of the log can prove a truncation.
 */
export class Maintenance extends Effect.Service<Maintenance>()("@coffer/server/Maintenance", {
  effect: Effect.gen(function* () {
    const { maintain } = yield* Database
    const { all } = yield* query
    const wraps = yield* WrapBudget
    const erasures = yield* Erasures
    const jobs = yield* Jobs
    const announced = yield* expiries
    const deleted = yield* purges
    const trash = yield* makeErasing

    const headsAfter = all(HeadRow)`
      SELECT log, seq, chain FROM audit_heads WHERE log > ${"after"} ORDER BY log LIMIT ${"limit"}`

    /** Page by page: there is a head for each organization, even a removed one. */
    const logHeadsAfter = (after: string): Effect.Effect<void> =>
      Effect.flatMap(headsAfter({ after, limit: batchSize }), (rows) =>
        Effect.zipRight(
          forEachInSlices(rows, ({ chain, log, seq }) => Effect.logInfo(`audit head of ${log}: ${seq} ${chain}`)),
          Effect.suspend(() => {
            const last = rows.at(-1)
            return last === undefined || rows.length < batchSize
              ? Effect.void
              : Effect.zipRight(nextTick, logHeadsAfter(last.log))
          })
        )
      )
    const logHeads = logHeadsAfter("")

    /** The jobs that no server has done in this hour. On SQLite, all of them: a start must not wait for the next hour. */
    const sweep = Effect.gen(function* () {
      yield* jobs.run({ name: "heads", ...hourly }, () => logHeads)
      yield* jobs.run({ name: "wraps", ...hourly }, wraps.count)
      yield* wraps.load
      yield* jobs.run({ name: "expiry", ...hourly }, (fenced) => runAll(announced, fenced))
      yield* jobs.run({ name: "tidy", ...hourly }, (fenced) =>
        runAll(deleted, fenced).pipe(Effect.zipRight(maintain), Effect.zipRight(erasures.finish))
      )
      // Last, because a large organization takes its time.
      yield* jobs.run({ name: "trash", ...hourly }, trash.eraseDue)
    }).pipe(Effect.withSpan("Maintenance.sweep"))

    return { sweep } as const
  }),
  dependencies: [Jobs.Default]
}) {}

/**
 * Runs maintenance at the start and every hour. With several servers, each looks every minute for jobs that none has done
 * in this hour, or that another server began and did not end. A failure is logged and does not end the schedule.
 */
export const MaintenanceLive = Layer.scopedDiscard(
  Effect.gen(function* () {
    const { sweep } = yield* Maintenance
    const { isShared } = yield* Database
    yield* sweep.pipe(
      Effect.catchAllCause((cause) => Effect.logError("maintenance failed", cause)),
      Effect.repeat(Schedule.spaced(isShared ? "1 minute" : "1 hour")),
      Effect.forkScoped
    )
  })
).pipe(Layer.provide(Maintenance.Default))
