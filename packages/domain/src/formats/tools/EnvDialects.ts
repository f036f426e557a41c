import { maxSecretValueBytes } from "../../secrets/SecretValueForm.js"
import { Findings, type Format } from "../Format.js"
import { Scanner } from "../Scanner.js"

/** Reads a `.env` text by the rules of the tool that wrote it. */
export type EnvDialect = Format["read"]

/** A line feed as two characters, of a tool that writes a backslash and an n in the same way. */
const escapedFeed = (tool: string, reading: string, exact: string): string =>
  `contains \\n, which ${tool} writes for a line feed and for a backslash with an n: it is read as ${reading}; ${exact} tells them apart`

/** A note on a line that ends as on Windows. */
const returnNotes = (value: string, tool: string): ReadonlyArray<string> =>
  value.endsWith("\r") ? [`ends with a carriage return, which ${tool} takes for a part of the value`] : []

/** Notes of a value that Infisical may have encoded: also in YAML, which its writer encodes in the same way. */
export const infisicalNotes = (value: string): ReadonlyArray<string> =>
  value.includes("\\n") ? [escapedFeed("Infisical", "a backslash and an n", "infisical export --format=json")] : []

/**
 * sops: `KEY=value` lines without quotes and escapes; a line feed in a value is `\n`.
 *
 * Source: getsops/sops v3.11, stores/dotenv/store.go, `EmitPlainFile` and `LoadPlainFile`.
 */
export const sopsEnv: EnvDialect = (text) => {
  const found = new Findings()
  let line = 0
  for (let start = 0; start < text.length && !found.isStopped();) {
    const end = text.indexOf("\n", start)
    const content = text.slice(start, end < 0 ? undefined : end)
    start = end < 0 ? text.length : end + 1
    line++
    if (content === "" || content === "\r" || content.startsWith("#")) continue
    const equals = content.indexOf("=")
    if (equals < 0) {
      found.refuse(line, "is not KEY=value, as sops writes each line")
      continue
    }
    const raw = content.slice(equals + 1)
    const notes = [
      ...(raw.includes("\\n") ? [escapedFeed("sops", "a line feed", "sops --decrypt of a JSON or YAML file")] : []),
      ...returnNotes(raw, "sops")
    ]
    found.add({ key: content.slice(0, equals), value: raw.replaceAll("\\n", "\n"), line, notes })
  }
  return found.result
}

const blank = /[^\S\n]*(?:\n|$)/y
const comment = /[^\S\n]*#[^\n]*/y
const head = /[^\S\n]*(?:export[^\S\n]+)?([A-Za-z_][\w.-]*)=/y
const rest = /[^\n]*/y

/** The text after a quote: the end of the text, the line of another key, a comment, or more of the value. */
type After = "end" | "key" | "comment" | "value"

const afterQuote = (text: string, from: number): After => {
  let at = text[from] === "\r" ? from + 1 : from
  if (at < text.length && text[at] !== "\n") return "value"
  for (at++; at < text.length; at = blank.lastIndex) {
    blank.lastIndex = at
    if (blank.test(text)) continue
    if (text[at] === "#") return "comment"
    head.lastIndex = at
    return head.test(text) ? "key" : "value"
  }
  return "end"
}

/** The quote that ends a value: the first that no more of the value can follow. */
const closingQuote = (text: string, from: number, quote: string): { readonly at: number; readonly after: After } => {
  const limit = from + 2 * maxSecretValueBytes
  for (let at = text.indexOf(quote, from); at >= 0 && at <= limit; at = text.indexOf(quote, at + 1)) {
    const after = afterQuote(text, at + 1)
    if (after !== "value") return { at, after }
  }
  return { at: -1, after: "value" }
}

interface Quoting {
  readonly tool: string
  readonly quote: string
  readonly notesOf: (value: string) => ReadonlyArray<string>
}

/** Reads `KEY="value"` lines of a writer that puts values between quotes as they are, line feeds and quotes included. */
const quotedAsIs =
  ({ notesOf, quote, tool }: Quoting): EnvDialect =>
  (text) => {
    const found = new Findings()
    const scanner = new Scanner(text)
    while (!found.isStopped() && !scanner.done) {
      if (scanner.take(blank) !== null) continue
      const line = scanner.lineAt(scanner.at)
      if (scanner.take(comment) !== null) continue
      const key = scanner.take(head)?.[1]
      if (key === undefined) {
        found.refuse(line, `is not KEY=${quote}value${quote}, as ${tool} writes it`)
        scanner.skip(rest)
        continue
      }
      if (text[scanner.at] !== quote) {
        const value = (scanner.take(rest)?.[0] ?? "").replace(/\r$/, "")
        found.add({ key, value, line, notes: [`is not in the quotes that ${tool} writes: it is read as it is`] })
        continue
      }
      const begin = scanner.at + 1
      const { after, at: end } = closingQuote(text, begin, quote)
      if (end < 0) {
        found.tooLong(line, key)
        break
      }
      const value = text.slice(begin, end)
      scanner.at = end + 1
      const notes = after === "comment" ? [`ends before a comment, which ${tool} does not write`] : []
      found.add({ key, value, line, notes: [...notes, ...notesOf(value)] })
    }
    return found.result
  }

/**
 * Phase: `KEY="value"` lines without any escape.
 *
 * Source: phasehq/cli v2, src/pkg/util/export.go, `ExportDotenv`; v1, phase_cli/cmd/secrets/export.py, `export_dotenv`.
 */
export const phaseEnv: EnvDialect = quotedAsIs({ tool: "Phase", quote: '"', notesOf: () => [] })

/**
 * Infisical: `KEY='value'` lines without any escape, after `export ` in its format dotenv-export. Line feeds become `\n` in
 * secrets that encode several lines.
 *
 * Source: Infisical/cli v0.43, packages/cmd/export.go, `formatAsDotEnv` and `escapeNewLinesIfRequired`.
 */
export const infisicalEnv: EnvDialect = quotedAsIs({ tool: "Infisical", quote: "'", notesOf: infisicalNotes })

const escape = /\\([^])/g

/** The value of a text between Doppler's quotes. */
const unescapeDoppler = (text: string): string =>
  text.replace(escape, (whole, character: string) => (character === "\\" || character === '"' ? character : whole))

/** Whether a text has an escape that Doppler's writer does not make. */
const hasOtherEscape = (text: string): boolean =>
  [...text.matchAll(escape)].some(([, character]) => character !== "\\" && character !== '"')

const quotedPiece = /[^"\\]+|\\[^]/y

const emptyLine =
  "is followed by an empty line: a line feed of the value, if it has one, is not read; --format json has it"

const isBeforeEmptyLine = (text: string, at: number): boolean => {
  blank.lastIndex = at + 1
  return at + 1 < text.length && blank.test(text)
}

/** The lines of Doppler's format docker: the text after the first = is the value. */
const dopplerDocker: EnvDialect = (text) => {
  const found = new Findings()
  const scanner = new Scanner(text)
  while (!found.isStopped() && !scanner.done) {
    if (scanner.take(blank) !== null) continue
    const line = scanner.lineAt(scanner.at)
    const key = scanner.take(head)?.[1]
    const value = scanner.take(rest)?.[0] ?? ""
    if (key === undefined)
      found.refuse(line, "is not KEY=value: Doppler's format docker holds no values of several lines")
    else
      found.add({
        key,
        value,
        line,
        notes: [...(isBeforeEmptyLine(text, scanner.at) ? [emptyLine] : []), ...returnNotes(value, "Doppler")]
      })
  }
  return found.result
}

/**
 * Doppler: `KEY="value"` lines, in which a backslash escapes quotes and backslashes, and nothing else. A text with a value that
 * has no quotes is of its format docker.
 *
 * Source: DopplerHQ/cli v3.75, pkg/utils/secrets.go, `MapToEnvFormat`; of its API, what the command line prints.
 */
export const dopplerEnv: EnvDialect = (text) => {
  const found = new Findings()
  const scanner = new Scanner(text)
  while (!found.isStopped() && !scanner.done) {
    if (scanner.take(blank) !== null) continue
    const line = scanner.lineAt(scanner.at)
    if (scanner.take(comment) !== null) continue
    const key = scanner.take(head)?.[1]
    if (key === undefined) {
      found.refuse(line, 'is not KEY="value", as Doppler writes it')
      scanner.skip(rest)
      continue
    }
    if (text[scanner.at] !== '"') return dopplerDocker(text)
    const begin = ++scanner.at
    while (scanner.at - begin <= 2 * maxSecretValueBytes && scanner.take(quotedPiece) !== null);
    const raw = text.slice(begin, scanner.at)
    if (text[scanner.at] !== '"') {
      found.tooLong(line, key)
      break
    }
    scanner.at++
    if (scanner.take(blank) === null) {
      found.refuse(line, `${key}: text follows its closing quote`)
      scanner.skip(rest)
      continue
    }
    const notes = hasOtherEscape(raw)
      ? ["contains a backslash that Doppler does not write as an escape: it is kept; --format json is exact"]
      : []
    found.add({ key, value: unescapeDoppler(raw), line, notes })
  }
  return found.result
}
