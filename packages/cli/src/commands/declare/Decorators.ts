/**
 * Decorators of env-spec, which varlock reads: `@name`, `@name(…)` or `@name=value` in a comment, where a value is a word, a quoted text,
 * `name(…)`, `{…}` or `[…]`.
 */
export interface Decorator {
  readonly name: string
  /** Empty where there is none. */
  readonly value: string
}

const quoted = /(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)/.source

/** Returns the pattern of a parenthesized list, with nested calls up to a depth. */
const listOf = (depth: number): string => `\\((?:${quoted}|${depth === 0 ? "" : `${listOf(depth - 1)}|`}[^()"'\`])*\\)`

const list = listOf(2)
const call = `[A-Za-z]\\w*${list}`
const literal = `\\{(?:${quoted}|[^{}"'\`])*\\}|\\[(?:${quoted}|[^[\\]"'\`])*\\]`
const decorator = new RegExp(`\\s*@([A-Za-z]\\w*)(?:=(${quoted}|${call}|${literal}|[^\\s#]*)|${list})?(?=\\s|$)`, "y")

/** The decorators of a comment without its `#`; undefined where it is something else. What follows another `#` is a remark. */
export const decoratorsOf = (comment: string): ReadonlyArray<Decorator> | undefined => {
  const found: Array<Decorator> = []
  decorator.lastIndex = 0
  let end = 0
  for (let match = decorator.exec(comment); match !== null; match = decorator.exec(comment)) {
    found.push({ name: match[1] ?? "", value: match[2] ?? "" })
    end = decorator.lastIndex
  }
  return found.length > 0 && /^\s*(?:#|$)/.test(comment.slice(end)) ? found : undefined
}

const escapes: Readonly<Record<string, string>> = { n: "\n", t: "\t" }

/**
 * The text of a value, without its quotes. A backslash stays, as in a regular expression, unless it is before a quote of the same
 * kind, before another one, or begins a newline or a tab.
 */
export const textOf = (value: string): string => {
  const [mark = ""] = value
  if (!['"', "'", "`"].includes(mark)) return value
  return value.slice(1, -1).replace(/\\(.)/gs, (whole, next: string) => {
    if (next === mark || next === "\\") return next
    return mark === "'" ? whole : (escapes[next] ?? whole)
  })
}

/** A text as a value of a decorator, which `textOf` reads back. */
export const quote = (text: string): string =>
  `"${text
    .replace(/\\(?=[nt"\\\n\t]|$)|"/g, "\\$&")
    .replaceAll("\n", "\\n")
    .replaceAll("\t", "\\t")}"`

/** The arguments of `name(…)`, each a word or a quoted text, by their names or by their places; null for another function. */
export const argumentsOf = (value: string, name: string): ReadonlyArray<readonly [string, string]> | null => {
  if (!value.startsWith(`${name}(`) || !value.endsWith(")")) return null
  const inside = value.slice(name.length + 1, -1)
  const regex = "/(?:[^/\\\\]|\\\\.)*/[a-z]*"
  const part = new RegExp(`\\s*(?:([A-Za-z]\\w*)=)?(${quoted}|${regex}|${call}|${literal}|[^,]*)\\s*(?:,|$)`, "y")
  const found: Array<readonly [string, string]> = []
  while (part.lastIndex < inside.length) {
    const match = part.exec(inside)
    if (match === null) return null
    found.push([match[1] ?? "", textOf((match[2] ?? "").trim())])
  }
  return found
}
