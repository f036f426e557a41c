import { Schema } from "effect"
import picomatch from "picomatch"
import { rule } from "./Rule.js"

const maxLength = 200
const maxAlternatives = 10
const maxStars = 3

const fold = (text: string): string => text.replace(/\*+/g, "*")

const grammar = /^(?:[a-z0-9*?-]|\{[a-z0-9*?-]*(?:,[a-z0-9*?-]*)+\})+$/

const stars = (text: string): number => text.split("*").length - 1

/**
 * Whether a text is a pattern: names' characters, `*`, `?` and one level of `{a,b}`, within bounds that keep matching far
 * from the exponential time that picomatch takes on many stars. Runs of `*` count as one.
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

const patternRule =
  "a pattern has 1 to 200 characters: lowercase letters, digits, hyphens, *, ? and {a,b}, with at most 10 alternatives and 3 stars"

const FoldedPattern = Schema.String.pipe(Schema.filter(isPattern, rule(patternRule)), Schema.brand("Pattern"))

/** Which projects or environments an access rule is about: a glob over names, with runs of `*` folded into one. */
export const Pattern = Schema.transform(Schema.String.annotations(rule(patternRule)), FoldedPattern, {
  decode: (text) => (text.length > maxLength ? text : fold(text)),
  encode: (pattern) => pattern
}).annotations({
  identifier: "Pattern",
  description: patternRule,
  jsonSchema: { type: "string", minLength: 1, maxLength, pattern: grammar.source },
  examples: [FoldedPattern.make("*"), FoldedPattern.make("web-*"), FoldedPattern.make("{staging,prod}")]
})
export type Pattern = typeof Pattern.Type

const options = {
  dot: true,
  nobracket: true,
  noextglob: true,
  noglobstar: true,
  nonegate: true,
  noquantifiers: true,
  strictSlashes: true
} as const

const compiled = new Map<string, (name: string) => boolean>()
const maxCompiled = 10_000

/** Whether a name matches a pattern. Pure; compiled patterns are kept. */
export const matches = (pattern: string, name: string): boolean => {
  if (pattern === "*" || pattern === name) return true
  let matcher = compiled.get(pattern)
  if (matcher === undefined) {
    if (compiled.size >= maxCompiled) compiled.clear()
    matcher = picomatch(fold(pattern), options)
    compiled.set(pattern, matcher)
  }
  return matcher(name)
}
