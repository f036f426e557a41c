import { Effect } from "effect"

export type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/**
 * Lets one at a time through; who waits is let in by turns, and may be interrupted. A semaphore would do, but costs each who
 * enters a turn of the scheduler, also where nobody is inside.
 */
export const makeGate = () => {
  let taken = false
  const waiting = new Set<() => void>()

  /** Lets the one that has waited longest look again. */
  const wake = (): void => {
    const [next] = waiting
    next?.()
  }

  const leave = Effect.sync(() => {
    taken = false
    wake()
  })

  /** Runs an effect inside. Its caller cannot be interrupted, and tells how that is taken back while it waits. */
  const through = <A, E, R>(restore: Restore, inside: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
    const wait = Effect.suspend(() => {
      let look = (): void => undefined
      const awake = Effect.async<void>((resume) => {
        look = () => {
          waiting.delete(look)
          resume(Effect.void)
        }
        // A fiber's turn can end between any two steps: who was inside may have left since it was found taken.
        if (taken) waiting.add(look)
        else look()
      })
      // Who is woken and gives up passes it on. What `async` itself would undo, it does not between its first two steps.
      return Effect.onInterrupt(restore(awake), () =>
        Effect.sync(() => {
          waiting.delete(look)
          if (!taken) wake()
        })
      )
    })
    const enter: Effect.Effect<A, E, R> = Effect.suspend(() => {
      if (taken) return Effect.zipRight(wait, enter)
      taken = true
      return Effect.ensuring(inside, leave)
    })
    return enter
  }

  /** Runs a step as soon as nobody is inside: at once, where nobody is. */
  const whenFree = (step: () => void): void => {
    if (!taken) return step()
    const look = (): void => {
      waiting.delete(look)
      whenFree(step)
      if (!taken) wake()
    }
    waiting.add(look)
  }

  return { through, whenFree, isFree: () => !taken } as const
}
