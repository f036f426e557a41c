import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { Database, type Transaction } from "../Database.js"
import { monotonicMillis, timestamp } from "../../base/Time.js"
import type { Scope } from "../Scopes.js"
import type { JobName } from "./JobMetrics.js"
import { jobsRepo } from "./Repo.js"

/** A defect of a job whose lease has passed, so that another server may do it. */
export class LeaseLost extends Data.TaggedError("LeaseLost")<{ readonly job: JobName }> {
  override get message(): string {
    return `this server has lost the lease of the job ${this.job}: it was stopped or cut off for too long, and another server does the job`
  }
}

export const isLeaseLost = (cause: Cause.Cause<unknown>): boolean =>
  Option.isSome(
    Cause.find(cause, (part) =>
      part._tag === "Die" && part.defect instanceof LeaseLost ? Option.some(part) : Option.none()
    )
  )

/**
 * Runs an effect as a transaction that holds scopes, and changes nothing unless this server still has the lease: it dies with
 * LeaseLost then.
 */
export type Fenced = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  scopes?: ReadonlyArray<Scope>
) => Effect.Effect<A, E, Exclude<R, Transaction>>

/** The transactions of a job without a lease. */
export const fencedByNothing =
  ({ change }: Pick<Database["Type"], "change">): Fenced =>
  (effect, scopes = []) =>
    change(scopes, effect)

/** The fence of the job that a layer is part of. */
export class Fence extends Context.Tag("@coffer/server/Lease/Fence")<Fence, Fenced>() {}

/** For a layer that is part of no job. */
export const unfenced = Layer.effect(Fence, Effect.map(Database, fencedByNothing))

export interface Lease {
  readonly name: JobName
  readonly bucket: string
  readonly token: number
  /** How long the lease lasts after each renewal. */
  readonly millis: number
}

/** The operations on a lease that was taken. */
export const leases = Effect.gen(function* () {
  const repo = yield* jobsRepo
  const { change, clock, transaction } = yield* Database

  const orLost = ({ name }: Lease, rows: ReadonlyArray<unknown>) =>
    rows.length === 0 ? Effect.die(new LeaseLost({ job: name })) : Effect.void

  // The lease is locked last: a transaction that waits for a tenant's row holds up no other of its job.
  const fencedBy =
    (lease: Lease): Fenced =>
    (effect, scopes = []) =>
      change(
        scopes,
        Effect.tap(effect, () => Effect.flatMap(repo.lock(lease), (rows) => orLost(lease, rows)))
      )

  const setUntil = (lease: Lease, until: string | null) =>
    Effect.flatMap(repo.setUntil({ ...lease, until }), (rows) => orLost(lease, rows))

  const renew = (lease: Lease) =>
    transaction(Effect.flatMap(clock, (now) => setUntil(lease, timestamp(now + lease.millis))))

  /** Marks the bucket as done, so that no server does it again. */
  const complete = (lease: Lease) => transaction(setUntil(lease, null))

  /** Lets any server take the bucket at once. */
  const release = (lease: Lease) => transaction(Effect.flatMap(clock, (now) => setUntil(lease, timestamp(now))))

  /**
   * Renews a lease forever. Dies with LeaseLost when another server has it, and when it could not be renewed for three
   * quarters of its time: the work has the last quarter to end before another server may begin.
   */
  const keep = (lease: Lease): Effect.Effect<never> =>
    Effect.gen(function* () {
      let renewedAt = yield* monotonicMillis
      const renewing = Effect.gen(function* () {
        yield* Effect.sleep(Duration.millis(lease.millis / 4))
        const begun = yield* monotonicMillis
        const renewed = yield* Effect.exit(renew(lease))
        if (Exit.isSuccess(renewed)) renewedAt = begun
        else if (isLeaseLost(renewed.cause)) return yield* renewed
        else yield* Effect.logDebug(`the lease of the job ${lease.name} was not renewed`, renewed.cause)
      }).pipe(Effect.forever)
      const expiring = Effect.gen(function* () {
        const left = renewedAt + (lease.millis * 3) / 4 - (yield* monotonicMillis)
        if (left <= 0) return yield* Effect.die(new LeaseLost({ job: lease.name }))
        yield* Effect.sleep(Duration.millis(left))
      }).pipe(Effect.forever)
      return yield* Effect.raceFirst(renewing, expiring)
    })

  return { fencedBy, keep, complete, release } as const
})
