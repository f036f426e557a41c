/**
 * What is not seen but acts: control and format characters (the bidirectional and the tag characters are among them),
 * separators of lines, surrogates and private use, and what fonts leave out.
 */
const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u

const runs = new RegExp(`${invisible.source}+`, "gu")
const each = new RegExp(invisible.source, "gu")

const replacement = "\ufffd"

/** A text from elsewhere without what is not seen, and not longer than an agent should have to read. */
export const plain = (text: string, longest = 1_000): string => {
  const cleaned = text.slice(0, longest + 1).replace(runs, replacement)
  return cleaned.length > longest ? `${cleaned.slice(0, longest)}…` : cleaned
}

/** A text from elsewhere as what it is: data between quotes, on one line. */
export const quoted = (text: string): string => JSON.stringify(plain(text))

const escaped = (text: string) =>
  Array.from({ length: text.length }, (_, index) => `\\u${text.charCodeAt(index).toString(16).padStart(4, "0")}`).join(
    ""
  )

/** A record as JSON in which nothing is invisible. */
export const toText = (record: unknown): string => JSON.stringify(record).replace(each, escaped)
