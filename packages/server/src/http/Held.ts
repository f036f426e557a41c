/** What one request holds: taken bit by bit, released at once. */
export interface Hold {
  /** Takes bytes. False when they would pass a bound: nothing is taken then. */
  readonly take: (bytes: number) => boolean
  readonly release: () => void
}

/** Something larger than the bound is held when nothing else is. */
const passes = (held: number, more: number, bound: number): boolean => held > 0 && held + more > bound

/**
 * Counts the bytes that the server holds for its callers, in all and for each of them, so that neither one caller nor all
 * together can use up the memory.
 */
export const makeHeld = (bounds: { readonly total: number; readonly each: number }) => {
  const byHolder = new Map<string, number>()
  let total = 0
  const add = (holder: string, bytes: number): void => {
    total += bytes
    const rest = (byHolder.get(holder) ?? 0) + bytes
    if (rest === 0) byHolder.delete(holder)
    else byHolder.set(holder, rest)
  }
  return (holder: string): Hold => {
    let mine = 0
    return {
      take: (bytes) => {
        const own = byHolder.get(holder) ?? 0
        if (passes(total, bytes, bounds.total) || passes(own, bytes, bounds.each)) return false
        mine += bytes
        add(holder, bytes)
        return true
      },
      release: () => {
        if (mine !== 0) add(holder, -mine)
        mine = 0
      }
    }
  }
}
