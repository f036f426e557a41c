/** The bit set of offsets (0 to the length) has 64 bits. Names have at most 50 characters. */
const maxNameLength = 63

/** A bit set of offsets into a name: `low` holds those below 32, `high` the others. */
interface Offsets {
  readonly low: number
  readonly high: number
}

const none: Offsets = { low: 0, high: 0 }
const isNone = (one: Offsets): boolean => (one.low | one.high) === 0
const only = (offset: number): Offsets => (offset < 32 ? { low: 1 << offset, high: 0 } : { low: 0, high: 1 << offset })
const union = (one: Offsets, other: Offsets): Offsets => ({ low: one.low | other.low, high: one.high | other.high })
const intersection = (one: Offsets, other: Offsets): Offsets => ({
  low: one.low & other.low,
  high: one.high & other.high
})

/** Adds one to each offset of the set. */
const next = (one: Offsets): Offsets => ({ low: one.low << 1, high: (one.high << 1) | (one.low >>> 31) })

/** Returns all offsets from the smallest one of the set. */
const onwards = (one: Offsets): Offsets =>
  one.low === 0 ? { low: 0, high: one.high | -one.high } : { low: one.low | -one.low, high: -1 }

/** Returns the offsets of each character of a name. */
const offsetsOf = (name: string): ReadonlyMap<string, Offsets> => {
  const found = new Map<string, Offsets>()
  Array.from(name).forEach((character, offset) => {
    found.set(character, union(found.get(character) ?? none, only(offset)))
  })
  return found
}

/**
 * Returns a function that matches patterns against the name. It scans the pattern once, with the set of reachable offsets
 * in the name, and never backtracks: the time is linear in the pattern's length. An invalid pattern matches only itself.
 */
export const matcherOf = (name: string): ((pattern: string) => boolean) => {
  const offsets = offsetsOf(name)
  const anywhere = [...offsets.values()].reduce(union, none)
  const end = only(name.length)

  const step = (reached: Offsets, character: string): Offsets =>
    character === "*"
      ? onwards(reached)
      : next(intersection(reached, character === "?" ? anywhere : (offsets.get(character) ?? none)))

  const fits = (pattern: string): boolean => {
    let reached = only(0)
    // Inside braces: `start` is where each alternative begins, `ended` where the earlier ones ended.
    let start = none
    let ended = none
    let inside = false
    for (let index = 0; index < pattern.length; index++) {
      const character = pattern.charAt(index)
      if (character === "{") {
        if (inside) return false
        inside = true
        start = reached
        ended = none
      } else if (inside && character === ",") {
        ended = union(ended, reached)
        reached = start
      } else if (inside && character === "}") {
        inside = false
        reached = union(ended, reached)
      } else {
        reached = step(reached, character)
      }
      if (!inside && isNone(reached)) return false
    }
    if (inside) return false
    return !isNone(intersection(reached, end))
  }
  return (pattern) => pattern === "*" || pattern === name || (name.length <= maxNameLength && fits(pattern))
}
