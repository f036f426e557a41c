import type * as SqlError from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import { pause } from "../../base/EventLoop.js"
import { isBusy } from "../../base/Reason.js"

/**
 * The driver never waits for the lock of another connection: that would block the event loop and all requests. Refused
 * statements are retried instead.
 */
export const busyTimeoutMillis = 0

const pauseMillis = 20

/** How long a refused statement is retried. */
export const patienceMillis = 5_000

/** Retries effects that find the database locked by another connection, without blocking the event loop. */
export const makePatience = () => {
  let since: number | null = null
  let last = 0

  /** Records that another connection holds the lock. */
  const refused = (): void => {
    const now = performance.now()
    if (since === null || now - last > patienceMillis) since = now
    last = now
  }

  /** Records that the lock was acquired. */
  const granted = (): void => {
    since = null
  }

  /** Whether the lock was refused for the whole patience. Statements then fail at once, until it is acquired again. */
  const isExhausted = (): boolean => since !== null && last - since >= patienceMillis

  const patiently = <A, E, R>(
    attempt: Effect.Effect<A, E | SqlError.SqlError, R>
  ): Effect.Effect<A, E | SqlError.SqlError, R> =>
    Effect.catchIf(attempt, isBusy, (error) => {
      refused()
      return isExhausted()
        ? Effect.fail(error)
        : Effect.zipRight(
            pause(pauseMillis),
            Effect.tap(patiently(attempt), () => Effect.sync(granted))
          )
    })

  return { granted, refused, isExhausted, patiently } as const
}
