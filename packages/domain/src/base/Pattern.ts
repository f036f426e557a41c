import * as Schema from "effect/Schema"
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
