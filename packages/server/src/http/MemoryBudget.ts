import { Overloaded } from "@coffer/domain/Errors"

/** The memory of one request. */
export interface Reservation {
  /** Adds bytes. Returns false, and adds nothing, if they would exceed a bound. */
  readonly reserve: (bytes: number) => boolean
  /** Releases all bytes. */
  readonly release: () => void
}

/** A reservation over the bound is granted if there is no other: it could never be granted otherwise. */
const exceeds = (held: number, more: number, bound: number): boolean => held > 0 && held + more > bound

/** Bounds the memory that is reserved in total and for each holder, so that callers cannot exhaust it. */
export const makeMemoryBudget = (bounds: { readonly total: number; readonly each: number }) => {
  const byHolder = new Map<string, number>()
  let total = 0
  const add = (holder: string, bytes: number): void => {
    total += bytes
    const rest = (byHolder.get(holder) ?? 0) + bytes
    if (rest === 0) byHolder.delete(holder)
    else byHolder.set(holder, rest)
  }
  return (holder: string): Reservation => {
    let mine = 0
    return {
      reserve: (bytes) => {
        const own = byHolder.get(holder) ?? 0
        if (exceeds(total, bytes, bounds.total) || exceeds(own, bytes, bounds.each)) return false
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

export const tooManyResponses = new Overloaded({
  message: "too many responses wait for their clients: try again in 1 second",
  retryAfter: 1
})
