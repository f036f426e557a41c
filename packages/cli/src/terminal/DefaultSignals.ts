import * as Effect from "effect/Effect"

const release = Effect.sync(() =>
  (["SIGINT", "SIGTERM"] as const).map((signal) => {
    const listeners = process.listeners(signal)
    process.removeAllListeners(signal)
    return { signal, listeners }
  })
)

/**
 * Runs work during which SIGINT and SIGTERM end the process at once. Listeners could not: synchronous work holds the event
 * loop that they run on, and a read from a pipe that nobody writes to holds `process.exit`.
 */
export const withDefaultSignals = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.acquireUseRelease(
    release,
    () => work,
    (saved) =>
      Effect.sync(() => {
        for (const { listeners, signal } of saved) for (const listener of listeners) process.on(signal, listener)
      })
  )
