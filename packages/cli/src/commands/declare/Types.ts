import { argumentsOf } from "./Decorators.js"

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

/** A regular expression between slashes, as other languages write it. */
const withoutSlashes = (text: string): string => /^\/(.*)\/$/s.exec(text)?.[1] ?? text

/** The pattern of a `@type`; undefined for one that says nothing of the text, or more than a pattern can. */
export const patternOfType = (type: string): string | undefined => {
  const choices = argumentsOf(type, "enum")
  if (choices !== null) return choices.map(([, text]) => escaped(text)).join("|")
  const known = simple.get(/^\w*/.exec(type)?.[0] ?? "")
  if (known !== undefined) return known
  const options = new Map(argumentsOf(type, "string") ?? [])
  const matches = options.get("matches")
  if (matches !== undefined) return withoutSlashes(matches)
  const [start, end] = [options.get("startsWith"), options.get("endsWith")]
  if (start === undefined && end === undefined) return undefined
  return `${escaped(start ?? "")}(?s:.*)${escaped(end ?? "")}`
}
