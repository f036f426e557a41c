import { argumentsOf } from "./Decorators.js"
import { patternOfRegex } from "./Regexes.js"

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")

const unsigned = "[0-9]+"
const simple: ReadonlyMap<string, string> = new Map([
  ["boolean", "(?i)true|false|yes|no|on|off|t|f|y|n|1|0"],
  ["email", "[^@\\s]+@[^@\\s]+"],
  ["number", `[+-]?(?:${unsigned}(?:\\.[0-9]*)?|\\.${unsigned})(?:[eE][+-]?${unsigned})?`],
  ["port", "[0-9]{1,5}"],
  ["semver", `${unsigned}\\.${unsigned}\\.${unsigned}(?:[-+][0-9A-Za-z.+-]+)?`],
  ["url", "[A-Za-z][A-Za-z0-9+.-]*://\\S+"],
  ["uuid", "[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}"]
])

/** The translation of a `@type` into a pattern. */
interface TypePattern {
  /** Undefined if the type says nothing that a pattern can express. */
  readonly pattern: string | undefined
  /** Whether the type says more than the pattern. */
  readonly isPartial: boolean
}

/** Whether all options of a type are these. */
const hasOnly = (options: ReadonlyMap<string, string>, ...names: ReadonlyArray<string>) =>
  [...options.keys()].every((name) => names.includes(name))

/** The pattern of a `@type`. */
export const patternOfType = (type: string): TypePattern => {
  const name = /^[\w-]*/.exec(type)?.[0] ?? ""
  const choices = argumentsOf(type, "enum")
  if (choices !== null) {
    const isKnown = choices.every(([, text]) => text !== "" && !text.startsWith("$"))
    return { pattern: isKnown ? choices.map(([, text]) => escaped(text)).join("|") : undefined, isPartial: !isKnown }
  }
  const options = new Map(argumentsOf(type, name) ?? [])
  // A value without its scheme fits.
  if (name === "url" && options.get("prependHttps") === "true") return { pattern: undefined, isPartial: true }
  const known = simple.get(name)
  if (known !== undefined) return { pattern: known, isPartial: options.size > 0 }
  if (name !== "string") return { pattern: undefined, isPartial: true }
  const matches = options.get("matches")
  if (matches !== undefined) {
    const pattern = patternOfRegex(matches)
    return { pattern, isPartial: pattern === undefined || !hasOnly(options, "matches") }
  }
  const [start, end] = [options.get("startsWith"), options.get("endsWith")]
  const isPartial = !hasOnly(options, "startsWith", "endsWith")
  if (start === undefined && end === undefined) return { pattern: undefined, isPartial }
  return { pattern: `${escaped(start ?? "")}(?s:.*)${escaped(end ?? "")}`, isPartial }
}
