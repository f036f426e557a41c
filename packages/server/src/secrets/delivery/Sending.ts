import * as Array from "effect/Array"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import type { Place } from "../../access/Access.js"
import { monotonicMillis, now } from "../../base/Time.js"
import type { Fenced } from "../../database/jobs/Lease.js"
import { orgScope } from "../../database/Scopes.js"
import type { Plan } from "./Plan.js"
import { callMillis, SendBefore } from "./PlatformCalls.js"
import { type OwnRow, pushMillis, targetsRepo } from "./Repo.js"
import type { StoredTarget } from "./Targets.js"
import { checkMillis } from "./CheckEvery.js"
import { PlatformFailed } from "./PlatformFailed.js"
import type { Connection, Listed, TargetKind } from "./TargetKind.js"
import type { Source } from "./TargetValues.js"

/** Both sides of a push, with its plan. */
export interface Prepared {
  readonly target: StoredTarget
  readonly kind: TargetKind
  readonly connection: Connection
  readonly listed: Listed
  readonly own: ReadonlyArray<OwnRow>
  readonly plan: Plan
  readonly digestOf: (name: string, value: Redacted.Redacted) => string
  readonly revision: number
  readonly sources: ReadonlyArray<Source>
}

/** A push that may send. */
export interface Begun {
  readonly token: number
  /** Whether a name was not ours before this push. */
  readonly isFresh?: (name: string) => boolean
  /** Whether whoever pushes may still do it; asked before each step. */
  readonly stillMay?: Effect.Effect<boolean>
}

/** How many calls go to a target at once. */
const atOnce = 4
/** How many keys are sent before the push is extended, and what was done is recorded: none may take longer than the push has. */
const inStep = 20
/** The same, where one call goes at a time. */
const inOrderedStep = 4
/** How long one push sends. The rest is left for another one. */
const patienceMillis = 25_000

interface Step {
  /** The names, each with the stamp that the platform gave it. */
  readonly put: ReadonlyArray<readonly [name: string, stamp: string | undefined]>
  readonly remove: ReadonlyArray<string>
}

const lost = new PlatformFailed({ reason: "whoever pushes may not do it any more", isUndone: true })
const overtaken = new PlatformFailed({ reason: "another push has taken over", isUndone: true })

/** The note about keys that a plan leaves out, for the status of its target; null if it leaves out none. */
const problemOf = ({ changes }: Plan): string | null => {
  const left = changes.filter(({ change, key }) => key !== null && (change === "refused" || change === "theirs")).length
  return left === 0 ? null : `${left} of the keys cannot be pushed: the plan of a push says why`
}

/** The failure after which a platform asks to wait longest. */
const slowest = (failures: ReadonlyArray<PlatformFailed>): PlatformFailed | undefined =>
  failures.reduce<PlatformFailed | undefined>(
    (one, other) => (one === undefined || (other.retryAfterSeconds ?? 0) > (one.retryAfterSeconds ?? 0) ? other : one),
    undefined
  )

/** Sends what a plan says. Before each step it checks that no other push has begun, and after it records what was done. */
export const makeSending = Effect.fnUntraced(function* (fenced: Fenced) {
  const repo = yield* targetsRepo

  return Effect.fnUntraced(function* (
    place: Place<"target.push">,
    prepared: Prepared,
    { isFresh = () => false, stillMay = Effect.succeed(true), token }: Begun
  ) {
    const { connection, digestOf, kind, listed, plan, revision, target } = prepared
    const { id } = target
    const inOrg = <A, E, R>(effect: Effect.Effect<A, E, R>) => fenced(effect, [orgScope(place.org.id)])

    /** Sends the calls of a step unless another push has begun, and none once another one may. */
    const inTurn = <A, E, R>(calls: Effect.Effect<A, E, R>) =>
      Effect.gen(function* () {
        const from = yield* monotonicMillis
        if (!(yield* stillMay)) return yield* lost
        if ((yield* inOrg(repo.extend({ id, token }))).length === 0) return yield* overtaken
        return yield* Effect.provideService(calls, SendBefore, from + pushMillis - callMillis)
      })

    const recorded = ({ put, remove }: Step) =>
      inOrg(
        Effect.gen(function* () {
          if ((yield* repo.extend({ id, token })).length === 0) return
          const pushed_at = yield* now
          const rows = put.flatMap(([name, stamp = null]) => {
            const one = plan.put.get(name)
            if (one === undefined) return []
            return [{ target_id: id, name, secret_key: one.key, digest: digestOf(name, one.value), stamp, pushed_at }]
          })
          yield* repo.insertKeys(rows)
          yield* Effect.forEach(remove, (name) => repo.forgetKey({ id, name }), { discard: true })
        })
      )

    /** Forgets names that certainly were not written, and were not ours before, unless another push knows more. */
    const forget = (names: ReadonlyArray<string>) =>
      inOrg(
        Effect.gen(function* () {
          if ((yield* repo.extend({ id, token })).length === 0) return
          yield* Effect.forEach(names.filter(isFresh), (name) => repo.forgetUntaken({ id, name }), { discard: true })
        })
      )

    const whole = Effect.gen(function* () {
      const names = [...plan.put.keys()]
      const step: Step = { put: names.map((name) => [name, undefined] as const), remove: plan.remove }
      if (step.put.length + step.remove.length === 0) return { ...step, left: 0 }
      if (!("write" in kind)) return yield* Effect.dieMessage("a kind without write")
      const put = new Map([...plan.put].map(([name, { value }]) => [name, value] as const))
      yield* inTurn(kind.write(connection, listed, { put, remove: plan.remove })).pipe(
        Effect.tapError(({ isUndone }) => (isUndone ? forget(names) : Effect.void))
      )
      yield* recorded(step)
      return { ...step, left: 0 }
    })

    const single = Effect.gen(function* () {
      if ("write" in kind) return yield* whole
      const deadline = (yield* Clock.currentTimeMillis) + patienceMillis
      const calls = [
        ...[...plan.put].map(([name, { value }]) => ({
          name,
          isPut: true,
          call: kind.put(connection, listed, name, Redacted.value(value))
        })),
        ...plan.remove.map((name) => ({ name, isPut: false, call: kind.remove(connection, listed, name) }))
      ]
      const putsOf = (some: typeof calls) => some.filter(({ isPut }) => isPut).map(({ name }) => name)
      const done: { readonly put: Array<Step["put"][number]>; readonly remove: Array<string> } = { put: [], remove: [] }
      const isOrdered = kind.isOrdered === true
      const steps = Array.chunksOf(calls, isOrdered ? inOrderedStep : inStep)
      let sent = 0
      for (const some of steps) {
        if ((yield* Clock.currentTimeMillis) >= deadline) break
        const ends = yield* inTurn(
          Effect.forEach(some, ({ call }) => Effect.either(call), { concurrency: isOrdered ? 1 : atOnce })
        ).pipe(Effect.tapError(() => forget(putsOf(calls.slice(sent)))))
        sent += some.length
        const taken = some.flatMap(({ isPut, name }, index) => {
          const end = ends[index]
          return end !== undefined && Either.isRight(end) ? [{ isPut, name, stamp: end.right ?? undefined }] : []
        })
        const step: Step = {
          put: taken.filter(({ isPut }) => isPut).map(({ name, stamp }) => [name, stamp] as const),
          remove: taken.filter(({ isPut }) => !isPut).map(({ name }) => name)
        }
        done.put.push(...step.put)
        done.remove.push(...step.remove)
        yield* recorded(step)
        const failures = ends.flatMap((end) => (Either.isLeft(end) ? [end.left] : []))
        const failure = slowest(failures)
        if (failure === undefined) continue
        const undone = some.filter((_one, index) => {
          const end = ends[index]
          return end !== undefined && Either.isLeft(end) && end.left.isUndone
        })
        yield* forget(putsOf([...undone, ...calls.slice(sent)]))
        return yield* failure
      }
      yield* forget(putsOf(calls.slice(sent)))
      return { ...done, left: calls.length - sent }
    })

    const ended = Effect.onExit(single, () => inOrg(repo.end({ id, token })))
    /** Notes the revision, unless another push has begun, which knows more. */
    const note = Effect.gen(function* () {
      const state = kind.tells === "names" ? "unknown" : "in step"
      const noted = yield* repo.pushed({
        id,
        token,
        revision,
        problem: problemOf(plan),
        now: yield* now,
        state,
        millis: checkMillis
      })
      if (noted.length === 0) return
      yield* repo.forgetSources({ id })
      yield* repo.insertSources(prepared.sources.map((source) => ({ target_id: id, ...source })))
    })
    /** Asks for the stamps of keys that the platform gave none for. Without them, a change of these keys there is unknown. */
    const stampRest = (put: Step["put"]) =>
      Effect.gen(function* () {
        const unstamped = put.flatMap(([name, stamp]) => (stamp === undefined ? [name] : []))
        if (unstamped.length === 0 || (kind.tells !== "times" && kind.tells !== "versions")) return
        const { keys } = yield* kind.list(connection)
        yield* inOrg(
          Effect.forEach(
            unstamped,
            (name) => repo.setStamp({ id, name, stamp: keys.get(name)?.stamp ?? null, token }),
            { discard: true }
          )
        )
      }).pipe(Effect.catchAll(() => Effect.void))

    const { left, put, remove } = yield* Effect.tap(ended, ({ left, put }) =>
      Effect.zipRight(stampRest(put), left > 0 ? Effect.void : inOrg(note))
    )
    return { pushed: put.length, removed: remove.length, left }
  })
})
