import { escapeInvisible, replaceInvisible } from "@coffer/domain/base/Invisible"

const replacement = "\ufffd"

/** Removes invisible characters from a foreign text, and truncates it to a length that an agent can read. */
export const plain = (text: string, longest = 1_000): string => {
  const cleaned = replaceInvisible(text.slice(0, longest + 1), replacement)
  return cleaned.length > longest ? `${cleaned.slice(0, longest)}…` : cleaned
}

/** Quotes a foreign text on one line, as data. */
export const quoted = (text: string): string => JSON.stringify(plain(text))

/** Returns a record as JSON without invisible characters. */
export const toText = (record: unknown): string => escapeInvisible(JSON.stringify(record))
