/** A part of a text: as it is, or one character that is not seen as it stands, with what is drawn in its place and its name. */
export interface Part {
  readonly text: string
  readonly mark?: { readonly drawn: string; readonly name: string }
}

const known: Readonly<Record<string, readonly [drawn: string, name: string]>> = {
  "\n": ["↵", "line feed"],
  "\r": ["␍", "carriage return"],
  "\t": ["⇥", "tab"],
  " ": ["·", "blank"],
  "\0": ["␀", "NUL"],
  "\u007f": ["␡", "DEL"],
  "\u00a0": ["⍽", "no-break space"],
  "\u00ad": ["U+00AD", "soft hyphen"],
  "\u061c": ["U+061C", "Arabic letter mark"],
  "\u200b": ["U+200B", "zero width space"],
  "\u200c": ["U+200C", "zero width non-joiner"],
  "\u200d": ["U+200D", "zero width joiner"],
  "\u200e": ["U+200E", "left-to-right mark"],
  "\u200f": ["U+200F", "right-to-left mark"],
  "\u2028": ["U+2028", "line separator"],
  "\u2029": ["U+2029", "paragraph separator"],
  "\u202a": ["U+202A", "left-to-right embedding"],
  "\u202b": ["U+202B", "right-to-left embedding"],
  "\u202c": ["U+202C", "pop directional formatting"],
  "\u202d": ["U+202D", "left-to-right override"],
  "\u202e": ["U+202E", "right-to-left override"],
  "\u2060": ["U+2060", "word joiner"],
  "\u2066": ["U+2066", "left-to-right isolate"],
  "\u2067": ["U+2067", "right-to-left isolate"],
  "\u2068": ["U+2068", "first strong isolate"],
  "\u2069": ["U+2069", "pop directional isolate"],
  "\ufeff": ["U+FEFF", "byte order mark"]
}

const markOf = (character: string): NonNullable<Part["mark"]> => {
  const found = known[character]
  if (found !== undefined) return { drawn: found[0], name: found[1] }
  const code = character.codePointAt(0) ?? 0
  const point = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`
  return { drawn: code < 0x20 ? String.fromCodePoint(0x2400 + code) : point, name: point }
}

/** Not seen wherever they stand: controls, formatting, and spaces that are no blank. Lines and tabs within a text are seen. */
const hidden = /[\p{Cf}\u2028\u2029]|(?![\n\t])\p{Cc}|(?! )\p{Zs}/gu

/** More are not drawn one by one: a text of a million of them would stop the page. */
const maxMarks = 500

/** The text in parts. Blanks and line feeds count where the text begins and ends. */
export const partsOf = (text: string, isStart = true, isEnd = true): ReadonlyArray<Part> => {
  const start = isStart ? (/^\s+/.exec(text)?.[0].length ?? 0) : 0
  // By hand: an expression that looks for an end tries each run of blanks.
  let end = text.length
  while (isEnd && end > start && /\s/.test(text.charAt(end - 1))) end -= 1
  const parts: Array<Part> = []
  const mark = (character: string) => parts.push({ text: character, mark: markOf(character) })
  for (const character of text.slice(0, Math.min(start, maxMarks))) mark(character)
  if (start > maxMarks) parts.push({ text: text.slice(maxMarks, start) })
  const middle = text.slice(start, end)
  let last = 0
  for (const { 0: character, index } of middle.matchAll(hidden)) {
    if (parts.length > 2 * maxMarks) break
    if (index > last) parts.push({ text: middle.slice(last, index) })
    mark(character)
    last = index + character.length
  }
  if (last < middle.length) parts.push({ text: middle.slice(last) })
  const tail = text.slice(end)
  if (tail.length > maxMarks) parts.push({ text: tail.slice(0, -maxMarks) })
  for (const character of tail.slice(-maxMarks)) mark(character)
  return parts
}

const counted = (characters: string): string => {
  const names = new Map<string, number>()
  for (const character of characters) {
    const { name } = markOf(character)
    names.set(name, (names.get(name) ?? 0) + 1)
  }
  return [...names]
    .map(([name, count]) => (count === 1 ? (/^[A-Z]/.test(name) ? name : `a ${name}`) : `${count} ${name}s`))
    .join(" and ")
}

/** Describes the invisible characters of a text, without the text; null if every character is visible. */
export const invisibleIn = (text: string): string | null => {
  if (text.trim() === "") return text === "" ? null : `consists of ${counted(text)}`
  const [begin = ""] = /^\s+/.exec(text) ?? []
  const end = text.slice(text.trimEnd().length)
  const within = (text.trim().match(hidden) ?? []).join("")
  const found = [
    ...(begin === "" ? [] : [`begins with ${counted(begin)}`]),
    ...(end === "" ? [] : [`ends with ${counted(end)}`]),
    ...(within === "" ? [] : [`contains ${counted(within)}`])
  ]
  return found.length === 0 ? null : found.join(", ")
}
