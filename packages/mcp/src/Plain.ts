import { escapeInvisible, replaceInvisible } from "@coffer/domain/Invisible"

const replacement = "\ufffd"

/** A text from elsewhere without invisible characters, cut to a length that an agent can read. */
export const plain = (text: string, longest = 1_000): string => {
  const cleaned = replaceInvisible(text.slice(0, longest + 1), replacement)
  return cleaned.length > longest ? `${cleaned.slice(0, longest)}…` : cleaned
}

/** A text from elsewhere as data: in quotes, on one line. */
export const quoted = (text: string): string => JSON.stringify(plain(text))

/** A record as JSON without invisible characters. */
export const toText = (record: unknown): string => escapeInvisible(JSON.stringify(record))
