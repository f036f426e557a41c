import { Effect } from "effect"
import type { Restore } from "../Restore.js"

/**
 * A fair mutex whose waiters can be interrupted. The toolkit's semaphore loses its permit if a fiber yields right after
 * acquiring it and is then interrupted. It also wakes all waiters on each release.
 */
export const makeMutex = () => {
  let taken = false
  const waiting = new Set<() => void>()

  /** Hands the mutex over to the longest waiter, if there is one. */
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
        // The fiber may have yielded since `enter` found the mutex taken, so the holder may have left.
        if (taken) return void waiting.add(wake)
        taken = true
        wake()
      })
      // A waiter that is interrupted after its wake-up must wake the next one.
      return Effect.onInterrupt(restore(handed), () =>
        Effect.suspend(() => (waiting.delete(wake) || !isMine ? Effect.void : leave))
      )
    })

  /** Acquires the mutex. The caller must be uninterruptible and call `leave` once; only the wait is restored. */
  const enter = (restore: Restore): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (taken) return wait(restore)
      taken = true
      return Effect.void
    })

  /** Runs an effect as a critical section. */
  const inside = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.uninterruptibleMask((restore) => Effect.zipRight(enter(restore), Effect.ensuring(restore(effect), leave)))

  return { enter, leave, inside, isFree: () => !taken } as const
}
