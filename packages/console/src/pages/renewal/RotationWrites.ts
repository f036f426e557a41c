/**
 * The texts that a rotation writes, as people type them: `KEY=text` on a line each. A line that begins with a blank goes on with
 * the text before.
 */
export const writesOf = (text: string): Readonly<Record<string, string>> => {
  const writes = new Map<string, string>()
  let last = ""
  for (const line of text.split("\n")) {
    if (line.startsWith(" ") && writes.has(last)) {
      writes.set(last, `${writes.get(last)}\n${line.slice(1)}`)
      continue
    }
    if (line.trim() === "") continue
    const at = line.indexOf("=")
    last = (at < 0 ? line : line.slice(0, at)).trim()
    writes.set(last, at < 0 ? "" : line.slice(at + 1))
  }
  return Object.fromEntries(writes)
}

export const textOfWrites = (writes: Readonly<Record<string, string>>): string =>
  Object.entries(writes)
    .map(([key, text]) => `${key}=${text.replaceAll("\n", "\n ")}`)
    .join("\n")
