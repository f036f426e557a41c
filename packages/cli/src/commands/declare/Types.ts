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

/** Types that say nothing of the text, or more than a pattern can. */
const free = new Set(["string", "array", "domain", "duration", "ip", "isoDate", "md5", "record", "simple-object"])

/** The pattern of a `@type`: null for one that says nothing of the text, undefined for one that is not understood. */
export const patternOfType = (type: string): string | null | undefined => {
  const name = /^[\w-]*/.exec(type)?.[0] ?? ""
  const choices = argumentsOf(type, "enum")
  if (choices !== null) {
    const isKnown = choices.every(([, text]) => text !== "" && !text.startsWith("$"))
    return isKnown ? choices.map(([, text]) => escaped(text)).join("|") : undefined
  }
  const options = new Map(argumentsOf(type, name) ?? [])
  if (name === "url" && options.get("prependHttps") === "true") return null
  const known = simple.get(name)
  if (known !== undefined) return known
  if (name !== "string") return free.has(name) ? null : undefined
  const matches = options.get("matches")
  if (matches !== undefined) return patternOfRegex(matches)
  const [start, end] = [options.get("startsWith"), options.get("endsWith")]
  if (start === undefined && end === undefined) return null
  return `${escaped(start ?? "")}(?s:.*)${escaped(end ?? "")}`
}
