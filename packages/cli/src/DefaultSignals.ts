import { Effect } from "effect"

const release = Effect.sync(() =>
  (["SIGINT", "SIGTERM"] as const).map((signal) => {
    const listeners = process.listeners(signal)
    process.removeAllListeners(signal)
    return { signal, listeners }
  })
)

/**
 * Runs synchronous work during which SIGINT and SIGTERM end the process at once. Listeners could not: they run on the event
 * loop, which the work holds.
 */
export const withDefaultSignals = <A>(work: () => A): Effect.Effect<A> =>
  Effect.acquireUseRelease(
    release,
    () => Effect.sync(work),
    (saved) =>
      Effect.sync(() => {
        for (const { listeners, signal } of saved) for (const listener of listeners) process.on(signal, listener)
      })
  )
