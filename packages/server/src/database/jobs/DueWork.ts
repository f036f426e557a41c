import * as Effect from "effect/Effect"
import * as FiberMap from "effect/FiberMap"
import * as Metric from "effect/Metric"
import type { FairSemaphore } from "../../base/FairSemaphore.js"
import { Tenant } from "../../base/Tenant.js"
import type { JobName } from "./JobMetrics.js"
import { isLeaseLost } from "./Lease.js"

const lookEvery = "1 second"
const pauseAfterDefect = "1 minute"

/** How many rows one look reads. */
export const rowsAtOnce = 100

interface DueWork {
  readonly job: JobName
  /** Work at once, which waits for other programs. */
  readonly slots: FairSemaphore
  /** Shows the number that each look returns. */
  readonly gauge: Metric.Metric.Gauge<number>
}

interface DueRow {
  readonly id: string
  readonly org_id: string
}

/** Begins work at a row, unless work at it goes on. */
type Begin = (row: DueRow, work: Effect.Effect<void>) => Effect.Effect<unknown>

/**
 * Looks each second for rows that are due, until the scope ends. The work at each has a fiber of its own: a slow platform or
 * database holds up no other. Another server may go on after it, and shows the number then.
 */
export const workWhenDue = ({ gauge, job, slots }: DueWork, look: (begin: Begin) => Effect.Effect<number>) =>
  Effect.gen(function* () {
    const running = yield* FiberMap.make<string>()
    yield* Effect.addFinalizer(() => Metric.set(gauge, NaN))

    const begin: Begin = ({ id, org_id: name }, work) =>
      FiberMap.run(
        running,
        id,
        slots.inside(work).pipe(
          Effect.provideService(Tenant, { name }),
          Effect.catchAllCause((cause) =>
            isLeaseLost(cause)
              ? Effect.void
              : Effect.zipRight(
                  Effect.logError(`the job ${job} failed at one row`, cause),
                  Effect.sleep(pauseAfterDefect)
                )
          )
        ),
        { onlyIfMissing: true }
      )

    yield* look(begin).pipe(
      Effect.flatMap((shown) => Metric.set(gauge, shown)),
      Effect.catchAllCause((cause) =>
        isLeaseLost(cause) ? Effect.void : Effect.logError(`the job ${job} failed`, cause)
      ),
      Effect.withTracerEnabled(false),
      Effect.zipRight(Effect.sleep(lookEvery)),
      Effect.forever,
      Effect.interruptible,
      Effect.forkScoped
    )
  })
