import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Database } from "../Database.js"
import type { JobName } from "./JobMetrics.js"
import { Jobs } from "./Jobs.js"
import { Fence, unfenced } from "./Lease.js"

const lookEvery = "2 seconds"

interface LongJob {
  readonly name: JobName
  readonly lease: Duration.DurationInput
}

/**
 * Runs a layer on one server of the database at a time, with the fence of its lease. Another server takes it over at once
 * when this one ends, and when the lease has passed if this one dies. `check` fails the start of every server. On SQLite the
 * layer is part of the server.
 */
export const onOneServer = <E, R, E2, R2>(
  job: LongJob,
  layer: Layer.Layer<never, E, R | Fence>,
  check: Effect.Effect<unknown, E2, R2>
) =>
  Layer.scopedDiscard(
    Effect.gen(function* () {
      const { isShared } = yield* Database
      if (!isShared) {
        yield* Layer.build(Layer.provide(layer, unfenced))
        return
      }
      yield* check
      const jobs = yield* Jobs
      const run = jobs.runAlone(job, (fenced) =>
        Effect.scoped(
          Layer.build(Layer.provide(layer, Layer.succeed(Fence, fenced))).pipe(
            Effect.zipRight(Effect.logInfo(`this server does the job ${job.name}`)),
            Effect.zipRight(Effect.never)
          )
        )
      )
      yield* run.pipe(
        Effect.catchAllCause((cause) => Effect.logError(`the job ${job.name} failed`, cause)),
        Effect.zipRight(Effect.sleep(lookEvery)),
        Effect.forever,
        Effect.interruptible,
        Effect.forkScoped
      )
    })
  ).pipe(Layer.provide(Jobs.Default))
