import type { Exchange } from "./internal/Exchange.js"
import { warnOfClearText } from "./internal/ServerUrl.js"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import { Background } from "./Background.js"
import type { ReadError, StartError } from "./Errors.js"
import { dropCopies, keepCopy, withoutCopy } from "./Offline.js"
import type { Options } from "./Options.js"
import { connect, type Environment, readEnvironment } from "./Read.js"
import { resolve, type Resolved } from "./Resolve.js"
import type { CofferService, Snapshot } from "./Service.js"
import { type Confirmed, confirmedNow, explain, firstValues } from "./Start.js"

/** After failures the polls become rarer, up to this many milliseconds. */
const rarest = 60_000

/** The longest wait that a server may ask for, in seconds: a change must not be missed for days. */
const longestAsked = 3600

/** A timer that should wait for longer ends at once. */
const longest = 2 ** 31 - 1

/** The jitter's least factor of a wait. */
const soonest = 0.8

/** A change is published once nothing has changed for so many milliseconds. */
const calm = 1000

/** A change that does not settle is published after so many further reads. */
const maxReads = 10

const hasSameValues = (one: Environment, other: Environment): boolean =>
  one.values.size === other.values.size &&
  one.refused.size === other.refused.size &&
  [...one.refused].every(([key, why]) => other.refused.get(key) === why) &&
  [...one.values].every(([key, value]) => {
    const found = other.values.get(key)
    return found !== undefined && Redacted.value(found) === Redacted.value(value)
  })

export type Followed = Pick<CofferService, "changes" | "refresh" | "snapshot">

const follow = Effect.fnUntraced(function* (
  exchange: Exchange,
  resolved: Resolved
): Effect.fn.Return<Followed, StartError, Scope.Scope> {
  const { connection, every } = resolved
  const { place } = connection
  const first = yield* firstValues(exchange, resolved)
  /** The newest values: all requests are made with its ETag. */
  let newest: Confirmed = first
  /** The newest values that have settled. */
  let settled = first.environment
  const published = yield* SubscriptionRef.make(first.environment)
  const mutex = yield* Effect.makeSemaphore(1)

  const toSnapshot = (environment: Environment): Effect.Effect<Snapshot> =>
    Effect.map(Clock.currentTimeMillis, (now) => ({
      place,
      revision: environment.revision,
      age: Duration.millis(Math.max(0, now - newest.at)),
      values: environment.values,
      refused: environment.refused
    }))

  /** Reads once. Returns the environment if its values have changed. */
  const read = (send: Exchange["send"]): Effect.Effect<Option.Option<Environment>, ReadError> =>
    Effect.gen(function* () {
      const before = newest.environment
      const found = yield* Effect.tapError(readEnvironment(exchange, send, connection, before.etag), (failure) =>
        dropCopies(resolved, failure)
      )
      newest = yield* confirmedNow(Option.getOrElse(found, () => before))
      return Option.filter(found, (environment) => !hasSameValues(environment, before))
    }).pipe(mutex.withPermits(1))

  const publish = Effect.gen(function* () {
    yield* keepCopy(resolved, newest.environment)
    const before = settled
    settled = newest.environment
    if (!hasSameValues(settled, before)) yield* SubscriptionRef.set(published, settled)
  }).pipe(mutex.withPermits(1))

  const pause = (milliseconds: number) => Effect.sleep(Math.min(milliseconds, longest))

  /** Reads until the values stay the same for a moment, so that many writes are one change. */
  const poll = Effect.gen(function* () {
    let changed = yield* read(exchange.once)
    for (let reads = 0; Option.isSome(changed) && reads < maxReads; reads++) {
      yield* pause(Math.min(calm, Duration.toMillis(every)))
      changed = yield* read(exchange.once)
    }
    yield* publish
  })

  const waitAfter = (failure: ReadError, last: number): number => {
    const wanted = "retryAfter" in failure ? Math.min(failure.retryAfter, longestAsked) * 1000 : 0
    return Math.max(wanted / soonest, Math.min(last * 2, Math.max(rarest, Duration.toMillis(every))))
  }

  /** A poller that ended would look like an environment without changes. Causes are not logged: they may hold anything. */
  const poller = Effect.gen(function* () {
    let wait = Duration.toMillis(every)
    let trouble: string | undefined
    for (;;) {
      yield* pause(wait * (yield* Random.nextRange(soonest, 1.2)))
      const polled = yield* Effect.either(poll)
      if (polled._tag === "Left") {
        const { message } = polled.left
        if (message !== trouble)
          yield* Effect.logWarning(`${place} is not followed, and its last values stay: ${message}`)
        trouble = message
        wait = waitAfter(polled.left, wait)
        continue
      }
      if (trouble !== undefined) yield* Effect.logInfo(`${place} is followed again`)
      trouble = undefined
      wait = Duration.toMillis(every)
    }
  }).pipe(
    Effect.tapErrorCause((cause) =>
      Cause.isInterruptedOnly(cause) ? Effect.void : Effect.logError(`${place}: a poll failed unexpectedly`)
    ),
    Effect.sandbox,
    Effect.retry({ while: (cause) => !Cause.isInterruptedOnly(cause) }),
    Effect.ignore
  )

  yield* Effect.forkScoped((yield* Background)(poller))

  return {
    snapshot: Effect.suspend(() => toSnapshot(settled)),
    changes: Stream.mapEffect(published.changes, toSnapshot),
    refresh: read(exchange.send).pipe(
      Effect.zipRight(publish),
      Effect.zipRight(Effect.suspend(() => toSnapshot(settled)))
    )
  }
})

/** Reads the environment, then follows its changes until the scope ends. */
export const open = Effect.fnUntraced(function* (
  options: Options
): Effect.fn.Return<{ readonly exchange: Exchange; readonly followed: Followed }, StartError, Scope.Scope> {
  const resolved = yield* Effect.flatMap(resolve(options), withoutCopy)
  const { connection } = resolved
  yield* warnOfClearText(connection.server)
  const exchange = yield* connect(connection)
  return { exchange, followed: yield* follow(exchange, resolved) }
}, Effect.mapError(explain))
