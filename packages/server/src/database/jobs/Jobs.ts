import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import { Database } from "../Database.js"
import type { Restore } from "../../base/RestoreMask.js"
import { timestamp } from "../../base/Time.js"
import { jobRuns, type JobName, type JobOutcome } from "./JobMetrics.js"
import { type Fenced, fencedByNothing, type Lease, LeaseLost, leases, isLeaseLost } from "./Lease.js"
import { Replica } from "./Replica.js"
import { jobsRepo } from "./Repo.js"

interface Job {
  readonly name: JobName
  /** How long other servers wait for this one, if it does not renew its lease. */
  readonly lease: Duration.DurationInput
}

interface PeriodicJob extends Job {
  /** The period of a bucket, by the database's clock. */
  readonly every: Duration.DurationInput
}

type Work<A, E, R> = (fenced: Fenced) => Effect.Effect<A, E, R>

interface Held<A, E, R> {
  readonly work: Work<A, E, R>
  readonly end: (lease: Lease) => Effect.Effect<void>
  readonly restore: Restore
}

/** The bucket of a job that has no periods, and is held by one server at a time. */
const always = ""

/** How long the row of a bucket is kept, at least. A server that was stopped for longer could do its job again. */
const keptMillis = Duration.toMillis("2 days")

const bucketAt = (millis: number, every: Duration.DurationInput): string => {
  const period = Duration.toMillis(every)
  return timestamp(Math.floor(millis / period) * period)
}

const outcomeOf = (exit: Exit.Exit<unknown, unknown>): JobOutcome => {
  if (Exit.isSuccess(exit)) return "done"
  if (isLeaseLost(exit.cause)) return "lost"
  return Cause.isInterruptedOnly(exit.cause) ? "released" : "failed"
}

/**
 * Runs the jobs that one server does for all servers of a database. A job holds a lease, which is a row of `jobs`. The
 * lease's token fences its transactions, so a server that slept through its lease changes nothing. On SQLite the lock on the
 * file is the lease: every job runs, and no row is written.
 */
export class Jobs extends Effect.Service<Jobs>()("@coffer/server/Jobs", {
  effect: Effect.gen(function* () {
    const database = yield* Database
    const { clock, isShared, transaction } = database
    const repo = yield* jobsRepo
    const { complete, fencedBy, keep, release } = yield* leases
    const { id: holder } = yield* Replica

    /** Reads first whether a bucket is free, so that servers that wait for their turn write nothing. */
    const claim = ({ lease, name }: Job, bucketOf: (millis: number) => string) =>
      Effect.gen(function* () {
        const millis = Duration.toMillis(lease)
        const before = yield* clock
        const row = yield* repo.lease({ name, bucket: bucketOf(before) })
        if (row !== undefined && (row.until === null || row.until > timestamp(before))) return null
        return yield* transaction(
          Effect.gen(function* () {
            const now = yield* clock
            const bucket = bucketOf(now)
            const [claimed] = yield* repo.claim({
              name,
              bucket,
              holder,
              until: timestamp(now + millis),
              now: timestamp(now)
            })
            if (claimed === undefined) return null
            if (bucket !== always) yield* repo.removeBefore({ name, bucket: bucketOf(now - keptMillis) })
            return { name, bucket, token: claimed.token, millis } satisfies Lease
          })
        )
      })

    /** Runs work under a lease, and `end` after it. If the end of the lease cannot be written, the lease passes by itself. */
    const hold = <A, E, R>(lease: Lease, { end, restore, work }: Held<A, E, R>) =>
      Effect.gen(function* () {
        const exit = yield* Effect.exit(restore(Effect.raceFirst(work(fencedBy(lease)), keep(lease))))
        const worked = outcomeOf(exit)
        const ended = worked === "lost" ? exit : yield* Effect.exit(worked === "released" ? release(lease) : end(lease))
        const outcome = outcomeOf(ended) === "lost" ? "lost" : worked
        yield* Metric.increment(jobRuns(lease.name, outcome))
        if (outcome !== "lost") return Option.some(yield* exit)
        yield* Effect.logWarning(new LeaseLost({ job: lease.name }).message)
        return Option.none<A>()
      })

    const leased = <A, E, R>(
      job: Job,
      bucketOf: (millis: number) => string,
      work: Work<A, E, R>,
      end: (lease: Lease) => Effect.Effect<void>
    ) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(claim(job, bucketOf), (lease) =>
          lease === null ? Effect.succeed(Option.none<A>()) : hold(lease, { work, end, restore })
        )
      )

    /** Runs work without a lease. */
    const unleased = <A, E, R>({ name }: Job, work: Work<A, E, R>) =>
      work(fencedByNothing(database)).pipe(
        Effect.onExit((exit) => Metric.increment(jobRuns(name, outcomeOf(exit)))),
        Effect.asSome
      )

    /**
     * Runs work if no server has done it in the current period, or is doing it. Work that fails counts as done. Returns
     * none if the work was not run, or if the lease was lost.
     */
    const run = <A, E, R>(job: PeriodicJob, work: Work<A, E, R>): Effect.Effect<Option.Option<A>, E, R> =>
      isShared ? leased(job, (millis) => bucketAt(millis, job.every), work, complete) : unleased(job, work)

    /** Runs work if no other server is doing it. Returns none if the work was not run, or if the lease was lost. */
    const runAlone = <A, E, R>(job: Job, work: Work<A, E, R>): Effect.Effect<Option.Option<A>, E, R> =>
      isShared ? leased(job, () => always, work, release) : unleased(job, work)

    return { run, runAlone } as const
  }),
  dependencies: [Replica.Default]
}) {}
