import { Effect } from "effect"

/** Restores the interruptibility of whoever waits. */
export type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/**
 * Lets one fiber at a time through, in the order in which they came; who waits may be interrupted. The toolkit's semaphore
 * loses its permit when a fiber's turn ends right after it took it and the fiber is interrupted then, and it wakes all that
 * wait each time that one leaves.
 */
export const makeMutex = () => {
  let taken = false
  const waiting = new Set<() => void>()

  /** Hands the mutex to the one that has waited longest. */
  const leave = Effect.sync(() => {
    const [next] = waiting
    if (next === undefined) {
      taken = false
      return
    }
    waiting.delete(next)
    next()
  })

  const wait = (restore: Restore) =>
    Effect.suspend(() => {
      let isMine = false
      let wake = (): void => undefined
      const handed = Effect.async<void>((resume) => {
        wake = () => {
          isMine = true
          resume(Effect.void)
        }
        // A fiber's turn can end between any two steps: who was inside may have left since it was found taken.
        if (taken) return void waiting.add(wake)
        taken = true
        wake()
      })
      // It can be handed over to whoever gives up in that moment, who passes it on.
      return Effect.onInterrupt(restore(handed), () =>
        Effect.suspend(() => (waiting.delete(wake) || !isMine ? Effect.void : leave))
      )
    })

  /** Enters. The caller cannot be interrupted, and calls `leave` once for it; `restore` lets it be while it waits. */
  const enter = (restore: Restore): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (taken) return wait(restore)
      taken = true
      return Effect.void
    })

  /** Runs an effect inside. */
  const inside = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.uninterruptibleMask((restore) => Effect.zipRight(enter(restore), Effect.ensuring(restore(effect), leave)))

  return { enter, leave, inside, isFree: () => !taken } as const
}
