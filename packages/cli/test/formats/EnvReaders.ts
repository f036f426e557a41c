import { parse } from "dotenv"

/**
 * Small models of the readers of `.env` files, for machines that lack the readers themselves. Each takes what stands after
 * `KEY=` up to the end of the file, and returns the value; nothing where the reader refuses the file or reads further keys.
 */
export type EnvReader = (text: string) => string | undefined

const restIs = (rest: string, pattern: RegExp, value: string) => (pattern.test(rest) ? value : undefined)

/** dotenv/main.js */
const dotenv: EnvReader = (text) => {
  const found = parse(`KEY=${text}`)
  return Object.keys(found).length === 1 ? found["KEY"] : undefined
}

const pythonEscapes: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v"
}

/** dotenv/parser.py and dotenv/variables.py */
const python: EnvReader = (text) => {
  const expand = (value: string) =>
    value.replace(/\$\{[^}:]*(?::-([^}]*))?\}/g, (_, otherwise: string | undefined) => otherwise ?? "")
  const rest = /^[^\S\r\n]*(?:#[^\r\n]*)?(?:\r\n|\n|\r|$)$/
  const single = /^'((?:\\[^]|[^'\\])*)'/.exec(text)
  if (single !== null) {
    return restIs(text.slice(single[0].length), rest, expand((single[1] ?? "").replace(/\\([\\'])/g, "$1")))
  }
  const double = /^"((?:\\[^]|[^"\\])*)"/.exec(text)
  if (double !== null) {
    const value = (double[1] ?? "").replace(
      /\\([\\'"abfnrtv])/g,
      (_, letter: string) => pythonEscapes[letter] ?? letter
    )
    return restIs(text.slice(double[0].length), rest, expand(value))
  }
  const line = /^[^\r\n]*/.exec(text)?.[0] ?? ""
  if (/^['"]/.test(line)) return undefined
  return restIs(text.slice(line.length), rest, expand(line.replace(/\s+#.*/, "").trimEnd()))
}

const goSpace = "[\\t\\v\\f\\r \\u0085\\u00a0]"
const trimmedLeft = (text: string) => text.replace(new RegExp(`^${goSpace}+`), "")

/** godotenv/parser.go */
const godotenv: EnvReader = (source) => {
  const text = trimmedLeft(source.replaceAll("\r\n", "\n"))
  const expand = (value: string) =>
    value.replace(/(\\)?(\$)(\()?\{?([A-Z0-9_]+)?\}?/g, (whole, escape, _, open, name) =>
      escape === "\\" || open === "(" ? whole.slice(1) : name === undefined ? whole : ""
    )
  const quote = /^['"]/.exec(text)?.[0]
  if (quote === undefined) {
    const line = /^[^\r\n]*/.exec(text)?.[0] ?? ""
    const comment = [...line].findLastIndex(
      (letter, index, all) => index > 0 && letter === "#" && new RegExp(goSpace).test(all[index - 1] ?? "")
    )
    const value = comment < 0 ? line : [...line].slice(0, comment).join("")
    const trimmed = trimmedLeft(value).replace(new RegExp(`${goSpace}+$`), "")
    return restIs(text.slice(line.length), /^\s*$/, expand(trimmed))
  }
  let end = 1
  while (end < text.length && (text[end] !== quote || text[end - 1] === "\\")) end++
  if (end >= text.length) return undefined
  const value = text.slice(0, end).replace(new RegExp(`^${quote}+|${quote}+$`, "g"), "")
  const escaped = value
    .replace(/\\(.)/g, (whole, letter) => (letter === "n" ? "\n" : letter === "r" ? "\r" : whole))
    .replace(/\\([^$])/g, "$1")
  return restIs(text.slice(end + 1), /^\s*$/, quote === '"' ? expand(escaped) : value)
}

/** compose-go/dotenv/parser.go; the escapes and variables of double quotes only as far as that they change the value. */
const compose: EnvReader = (source) => {
  const text = trimmedLeft(source)
  const expand = (value: string) => (value.includes("$") ? undefined : value)
  const quote = /^['"]/.exec(text)?.[0]
  if (quote === undefined) {
    const line = /^[^\n]*/.exec(text)?.[0] ?? ""
    const value = expand((line.split(" #", 1)[0] ?? "").trimEnd())
    return value === undefined ? undefined : restIs(text.slice(line.length), /^\s*$/, value)
  }
  let value = ""
  let isEscape = false
  for (let at = 1; at < text.length; at++) {
    const letter = text[at] ?? ""
    if (letter === quote && !isEscape) {
      const whole = quote === "'" ? value : /\\[abcfnrtv$"\\0]/.test(value) ? undefined : expand(value)
      return whole === undefined ? undefined : restIs(text.slice(at + 1), /^\s*$/, whole)
    }
    if (!isEscape && letter === "\\") isEscape = true
    else {
      value += isEscape && letter !== quote ? `\\${letter}` : letter
      isEscape = false
    }
  }
  return undefined
}

/** node/src/node_dotenv.cc */
const node: EnvReader = (source) => {
  const text = source.replaceAll("\r", "")
  if (text.includes("\0")) return undefined
  const trimmed = text.replace(/^[ \t\n]+|[ \t\n]+$/g, "")
  if (text.startsWith("\n")) return trimmed === "" ? "" : undefined
  const quote = /^['"`]/.exec(trimmed)?.[0]
  const close = quote === undefined ? -1 : trimmed.indexOf(quote, 1)
  if (quote !== undefined && close > 0) {
    const value = trimmed.slice(1, close)
    return restIs(trimmed.slice(close + 1), /^$/, quote === '"' ? value.replaceAll("\\n", "\n") : value)
  }
  const line = /^[^\n]*/.exec(trimmed)?.[0] ?? ""
  const [value = ""] = line.split("#", 1)
  return restIs(trimmed.slice(line.length), /^$/, value.replace(/^[ \t]+|[ \t]+$/g, ""))
}

export const envReaders: Readonly<Record<string, EnvReader>> = { dotenv, python, godotenv, compose, node }
