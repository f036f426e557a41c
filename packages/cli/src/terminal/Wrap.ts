/** The columns that a text takes: one for each character. */
export const widthOf = (text: string): number => [...text].length

/** Narrower terminals break lines themselves. */
const narrowest = 20

/**
 * Fills lines of at most `width` columns with the parts, with spaces between them. A part that is longer has a line of its own.
 * A terminal of unknown width gets a single line.
 */
export const fill = (
  parts: ReadonlyArray<string>,
  width: number | undefined
): readonly [string, ...ReadonlyArray<string>] => {
  const limit = width === undefined ? Infinity : Math.max(width, narrowest)
  const lines: [string, ...Array<string>] = [parts[0] ?? ""]
  for (const part of parts.slice(1)) {
    const longer = `${lines.at(-1) ?? ""} ${part}`
    if (widthOf(longer) <= limit) lines[lines.length - 1] = longer
    else lines.push(part)
  }
  return lines
}

/** Breaks a text at its spaces. */
export const wrap = (text: string, width: number | undefined) => fill(text.split(" "), width)

export interface Item {
  readonly name: string
  readonly text: string
}

/** A list of names with their texts beside them, or below where a name or the terminal leaves no room. */
export const definitions = (items: ReadonlyArray<Item>, width: number | undefined): ReadonlyArray<string> => {
  const longest = Math.max(...items.map(({ name }) => widthOf(name)))
  // At least half of the width is for the texts.
  const column = width === undefined ? longest : Math.min(longest, Math.floor(width / 2) - 2)
  const indent = " ".repeat(column + 2)
  return items.flatMap(({ name, text }) => {
    const [first, ...rest] = wrap(text, width === undefined ? undefined : width - indent.length)
    const below = rest.map((line) => indent + line)
    return widthOf(name) > column
      ? [...wrap(name, width), indent + first, ...below]
      : [`${name.padEnd(column)}  ${first}`.trimEnd(), ...below]
  })
}
