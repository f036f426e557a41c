import { Schema } from "effect"
import { withMessage } from "./Message.js"
import { withJsonSchema } from "./Schemas.js"

const maxLength = 200
const maxAlternatives = 10
const maxStars = 3

const fold = (text: string): string => text.replace(/\*+/g, "*")

const grammar = /^(?:[a-z0-9*?-]|\{[a-z0-9*?-]*(?:,[a-z0-9*?-]*)+\})+$/

const stars = (text: string): number => text.split("*").length - 1

/**
 * Checks that a text is a pattern: characters of names, `*`, `?` and one level of `{a,b}`, within the limits above. Runs
 * of `*` count as one.
 */
const isPattern = (text: string): boolean => {
  if (text.length === 0 || text.length > maxLength) return false
  const folded = fold(text)
  if (!grammar.test(folded)) return false
  const groups = folded.match(/\{[^}]*\}/g) ?? []
  const alternatives = groups.map((group) => group.slice(1, -1).split(","))
  const starsInGroups = alternatives.map((texts) => Math.max(...texts.map(stars)))
  const starsOutside = stars(folded.replace(/\{[^}]*\}/g, ""))
  return (
    alternatives.reduce((sum, texts) => sum + texts.length, 0) <= maxAlternatives &&
    starsInGroups.reduce((sum, count) => sum + count, starsOutside) <= maxStars
  )
}

const patternMessage =
  "a pattern has 1 to 200 characters: lowercase letters, digits, hyphens, *, ? and {a,b}, with at most 10 alternatives and 3 stars"

const FoldedPattern = Schema.String.pipe(Schema.filter(isPattern, withMessage(patternMessage)), Schema.brand("Pattern"))

/** A glob that selects the projects or environments of an access rule by name. Decoding folds runs of `*` into one. */
export const Pattern = Schema.transform(Schema.String.annotations(withMessage(patternMessage)), FoldedPattern, {
  decode: (text) => (text.length > maxLength ? text : fold(text)),
  encode: (pattern) => pattern
}).annotations({
  ...withJsonSchema("a name, or a pattern: `*` is any text, `?` any character, `{a,b}` either", {
    type: "string",
    minLength: 1,
    maxLength,
    pattern: grammar.source
  }),
  identifier: "Pattern",
  examples: [FoldedPattern.make("*"), FoldedPattern.make("web-*"), FoldedPattern.make("{staging,prod}")]
})
export type Pattern = typeof Pattern.Type

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

export const matches = (pattern: string, name: string): boolean => matcherOf(name)(pattern)
