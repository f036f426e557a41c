import * as Array from "effect/Array"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import type { Place } from "../../access/Access.js"
import { now } from "../../base/Time.js"
import type { Fenced } from "../../database/jobs/Lease.js"
import { orgScope } from "../../database/Scopes.js"
import type { Value } from "../../keys/Envelope.js"
import type { Plan } from "./Plan.js"
import { type OwnRow, targetsRepo } from "./Repo.js"
import type { StoredTarget } from "./Targets.js"
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
  readonly digestOf: (name: string, value: Value) => string
  readonly revision: number
  readonly sources: ReadonlyArray<Source>
}

/** A push that may send. */
export interface Begun {
  readonly token: number
  /** Whether a name was not ours before this push. */
  readonly isFresh?: (name: string) => boolean
}

/** How many calls go to a target at once. */
const atOnce = 4
/** How many keys are sent before the push is extended, and what was done is recorded. */
const inStep = 20
/** How long one push sends. The rest is left for another one. */
const patienceMillis = 25_000

interface Step {
  readonly put: ReadonlyArray<string>
  readonly remove: ReadonlyArray<string>
}

const overtaken = new PlatformFailed({ reason: "another push has taken over", isUndone: true })

/** The note about keys that a plan leaves out, for the status of its target; null if it leaves out none. */
const problemOf = ({ changes }: Plan): string | null => {
  const left = changes.filter(({ change, key }) => key !== null && (change === "refused" || change === "theirs")).length
  return left === 0 ? null : `${left} of the keys cannot be pushed: the plan of a push says why`
}

/** Sends what a plan says. Before each step it checks that no other push has begun, and after it records what was done. */
export const makeSending = Effect.fnUntraced(function* (fenced: Fenced) {
  const repo = yield* targetsRepo

  return Effect.fnUntraced(function* (
    place: Place<"target.push">,
    prepared: Prepared,
    { isFresh = () => false, token }: Begun
  ) {
    const { connection, digestOf, kind, listed, plan, revision, target } = prepared
    const { id } = target
    const inOrg = <A, E, R>(effect: Effect.Effect<A, E, R>) => fenced(effect, [orgScope(place.org.id)])

    /** Fails unless this is still the last push that began. */
    const extend = Effect.flatMap(inOrg(repo.extend({ id, token })), (rows) =>
      rows.length === 0 ? overtaken : Effect.void
    )

    const recorded = ({ put, remove }: Step) =>
      inOrg(
        Effect.gen(function* () {
          if ((yield* repo.extend({ id, token })).length === 0) return
          const pushed_at = yield* now
          const rows = put.flatMap((name) => {
            const one = plan.put.get(name)
            if (one === undefined) return []
            return [{ target_id: id, name, secret_key: one.key, digest: digestOf(name, one.value), pushed_at }]
          })
          yield* repo.insertKeys(rows)
          yield* Effect.forEach(remove, (name) => repo.forgetKey({ id, name }), { discard: true })
        })
      )

    /** Forgets names that certainly were not written, and were not ours before. */
    const forget = (names: ReadonlyArray<string>) =>
      inOrg(Effect.forEach(names.filter(isFresh), (name) => repo.forgetUntaken({ id, name }), { discard: true }))

    const whole = Effect.gen(function* () {
      const step: Step = { put: [...plan.put.keys()], remove: plan.remove }
      if (step.put.length + step.remove.length === 0) return { ...step, left: 0 }
      yield* extend
      if (!("write" in kind)) return yield* Effect.dieMessage("a kind without write")
      const put = new Map([...plan.put].map(([name, { value }]) => [name, value] as const))
      yield* kind
        .write(connection, listed, { put, remove: plan.remove })
        .pipe(Effect.tapError(({ isUndone }) => (isUndone ? forget(step.put) : Effect.void)))
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
      const done: { readonly put: Array<string>; readonly remove: Array<string> } = { put: [], remove: [] }
      const steps = Array.chunksOf(calls, inStep)
      let sent = 0
      for (const some of steps) {
        if ((yield* Clock.currentTimeMillis) >= deadline) break
        yield* extend
        const ends = yield* Effect.forEach(some, ({ call }) => Effect.either(call), { concurrency: atOnce })
        sent += some.length
        const taken = some.filter((_one, index) => ends[index] !== undefined && Either.isRight(ends[index]))
        const step: Step = {
          put: taken.filter(({ isPut }) => isPut).map(({ name }) => name),
          remove: taken.filter(({ isPut }) => !isPut).map(({ name }) => name)
        }
        done.put.push(...step.put)
        done.remove.push(...step.remove)
        yield* recorded(step)
        const failures = ends.flatMap((end) => (Either.isLeft(end) ? [end.left] : []))
        const [failure] = failures
        if (failure === undefined) continue
        const undone = some.filter((_one, index) => {
          const end = ends[index]
          return end !== undefined && Either.isLeft(end) && end.left.isUndone
        })
        const unsent = calls.slice(sent)
        yield* forget([...undone, ...unsent].filter(({ isPut }) => isPut).map(({ name }) => name))
        return yield* failure
      }
      yield* forget(
        calls
          .slice(sent)
          .filter(({ isPut }) => isPut)
          .map(({ name }) => name)
      )
      return { ...done, left: calls.length - sent }
    })

    const ended = Effect.onExit(single, () => inOrg(repo.end({ id, token })))
    /** Notes the revision, unless another push has begun, which knows more. */
    const note = Effect.gen(function* () {
      const noted = yield* repo.pushed({ id, token, revision, problem: problemOf(plan), now: yield* now })
      if (noted.length === 0) return
      yield* repo.forgetSources({ id })
      yield* repo.insertSources(prepared.sources.map((source) => ({ target_id: id, ...source })))
    })
    const { left, put, remove } = yield* Effect.tap(ended, ({ left }) => (left > 0 ? Effect.void : inOrg(note)))
    return { pushed: put.length, removed: remove.length, left }
  })
})
