import type { SqlError } from "@effect/sql"
import { Effect } from "effect"
import { isBusy } from "../Reason.js"

/**
 * The driver itself never waits for the lock of another connection: it would hold the event loop, and all requests with it.
 * What is refused is tried again.
 */
export const busyTimeoutMillis = 0

const pauseMillis = 20

/** How long is tried. */
export const patienceMillis = 5_000

/** The lock's holder lives by the clock on the wall, whatever this program's clock is. */
const pause = Effect.async<void>((resume) => {
  const timer = setTimeout(() => {
    resume(Effect.void)
  }, pauseMillis)
  return Effect.sync(() => {
    clearTimeout(timer)
  })
})

/** Tries again what finds the database locked by another connection, without holding the event loop. */
export const makePatience = () => {
  let since: number | null = null
  let last = 0

  /** Notes that the lock is another connection's. */
  const refused = (): void => {
    const now = performance.now()
    if (since === null || now - last > patienceMillis) since = now
    last = now
  }

  /** Notes that it is not. */
  const granted = (): void => {
    since = null
  }

  /** Whether it has been so for longer than anybody waits: then nobody waits any more, until it is granted again. */
  const isExhausted = (): boolean => since !== null && last - since >= patienceMillis

  const patiently = <A, E, R>(
    attempt: Effect.Effect<A, E | SqlError.SqlError, R>
  ): Effect.Effect<A, E | SqlError.SqlError, R> =>
    Effect.catchIf(attempt, isBusy, (error) => {
      refused()
      return isExhausted()
        ? Effect.fail(error)
        : Effect.zipRight(
            pause,
            Effect.tap(patiently(attempt), () => Effect.sync(granted))
          )
    })

  return { granted, refused, isExhausted, patiently } as const
}
