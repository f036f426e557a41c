/**
 * Guides are data: pieces of text with placeholders, `<name>` or `<name:form>`. A line is left out if one of its placeholders
 * has no text, and repeated if one has a list.
 */

/** A file, a command or the fields of a form, and the instruction for it. */
export interface Piece {
  readonly what: string
  readonly lines: string
}

/** A piece of a guide, with placeholders. */
interface Template {
  readonly what: string
  readonly lines: ReadonlyArray<string>
}

/** The texts of placeholders, by name. */
export type Texts = Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

/** The forms of texts in files of other programs. */
const forms: Readonly<Record<string, (text: string) => string>> = {
  /** JSON strings are YAML and TOML too. */
  json: (text) => JSON.stringify(text),
  /** A word of a shell. The names of accounts alone can hold what a shell splits. */
  word: (text) => (text.includes(" ") ? `'${text}'` : text),
  /** Buildkite replaces variables before it runs the commands, unless their dollar is doubled. */
  dollars: (text) => text.replaceAll("$", "$$$$"),
  /** A member of an object in JavaScript. */
  member: (text) => (/^[a-z][a-z0-9]*$/.test(text) ? `.${text}` : `[${JSON.stringify(text)}]`)
}

const filledPlaceholder = (placeholder: string, texts: Texts): ReadonlyArray<string> => {
  const [name = "", form = ""] = placeholder.split(":")
  const found = texts[name] ?? []
  return (typeof found === "string" ? [found] : found).map((text) => forms[form]?.(text) ?? text)
}

/** Returns a line for each combination of the texts of its placeholders: none if a placeholder has no text. */
const fillLine = (line: string, texts: Texts): ReadonlyArray<string> =>
  line
    .split(/<(\w+(?::\w+)?)>/)
    .map((part, index) => (index % 2 === 0 ? [part] : filledPlaceholder(part, texts)))
    .reduce((starts, ends) => starts.flatMap((start) => ends.map((end) => start + end)))

export const fillLines = (lines: ReadonlyArray<string>, texts: Texts): ReadonlyArray<string> =>
  lines.flatMap((line) => fillLine(line, texts))

/** Fills the pieces of a guide. A piece without a line is left out. */
export const fillPieces = (pieces: ReadonlyArray<Template>, texts: Texts): ReadonlyArray<Piece> =>
  pieces.flatMap(({ lines, what }) => {
    const filled = fillLines(lines, texts)
    return filled.length === 0 ? [] : [{ what: fillLine(what, texts).join(""), lines: `${filled.join("\n")}\n` }]
  })
