import { mayTake, type SharedBound } from "./SharedBounds.js"

/** Counts what each holder has of a bound. */
export const makeShare = (bound: Pick<SharedBound, "each" | "total">) => {
  const byHolder = new Map<string, number>()
  let all = 0

  const add = (holder: string, amount: number): void => {
    all += amount
    const rest = (byHolder.get(holder) ?? 0) + amount
    if (rest === 0) byHolder.delete(holder)
    else byHolder.set(holder, rest)
  }

  const own = (holder: string): number => byHolder.get(holder) ?? 0

  return {
    /** Whether the holder may have an amount besides what it has. */
    has: (holder: string, amount: number): boolean => mayTake(bound, own(holder), all, amount),
    /** Returns the amount that a holder has. */
    own,
    /** Takes an amount. Returns false, and takes nothing, if that exceeds the whole or the holder's share. */
    take: (holder: string, amount: number): boolean => {
      if (!mayTake(bound, own(holder), all, amount)) return false
      add(holder, amount)
      return true
    },
    /** Takes an amount that was taken before and must not be lost, over the bound too. */
    keep: add,
    giveBack: (holder: string, amount: number): void => {
      add(holder, -amount)
    }
  } as const
}

export type Share = ReturnType<typeof makeShare>
