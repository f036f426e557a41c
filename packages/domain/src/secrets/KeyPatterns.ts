import * as Schema from "effect/Schema"
import { withMessage } from "../base/Message.js"

/** Patterns of secret keys: `*` is any text. */
const maxLength = 100
const maxStars = 3

export const isKeyPattern = (text: string): boolean =>
  text.length <= maxLength && /^[A-Za-z0-9_.*-]+$/.test(text) && text.split("*").length - 1 <= maxStars

const patternMessage = "must be keys of at most 100 characters, with at most 3 stars, such as DB_*"
export const KeyPattern = Schema.String.pipe(Schema.filter(isKeyPattern, withMessage(patternMessage)))

/** The pattern of a rule for all keys. */
export const allKeys = "**"

/** Whether a pattern fits every key. */
export const fitsAllKeys = (pattern: string): boolean => /^\*+$/.test(pattern)

/** Whether a key fits a pattern, in time that grows with their lengths: each part is taken at its first place. */
export const fitsKeyPattern = (pattern: string, key: string): boolean => {
  const [head = "", ...rest] = pattern.split("*")
  if (rest.length === 0) return key === pattern
  const tail = rest.pop() ?? ""
  if (!key.startsWith(head) || key.length < head.length + tail.length || !key.endsWith(tail)) return false
  const end = key.length - tail.length
  let at = head.length
  for (const part of rest) {
    const found = key.indexOf(part, at)
    if (found === -1 || found + part.length > end) return false
    at = found + part.length
  }
  return true
}

/** Whether a key fits one of the patterns; any does if there are none. */
export const fitsKeyPatterns = (patterns: ReadonlyArray<string>, key: string): boolean =>
  patterns.length === 0 || patterns.some((pattern) => fitsKeyPattern(pattern, key))
