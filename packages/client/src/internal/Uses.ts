/** A resource and the number of its users. It is closed only once it has been replaced and has none. */
export interface Used<A> {
  readonly resource: A
  /** Counts a user. Returns what ends the use. */
  readonly hold: () => () => void
  readonly isUsed: () => boolean
  /** Resolves once nothing uses the resource. */
  readonly unused: () => Promise<void>
}

export const countUses = <A>(resource: A): Used<A> => {
  let users = 0
  const waiters = new Set<() => void>()
  return {
    resource,
    hold: () => {
      let isHeld = true
      users += 1
      return () => {
        if (!isHeld) return
        isHeld = false
        users -= 1
        if (users > 0) return
        for (const wake of waiters) wake()
        waiters.clear()
      }
    },
    isUsed: () => users > 0,
    unused: () =>
      new Promise((resolve) => {
        if (users === 0) resolve()
        else waiters.add(resolve)
      })
  }
}
