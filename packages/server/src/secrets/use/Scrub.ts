import { Effect } from "effect"
import { pacing } from "../../base/EventLoop.js"
import { viewsOf } from "./Decoders.js"
import { bytesAsText, longestSpelling, type Spelling, spellingsOf } from "./Spellings.js"

const mark = "[scrubbed]"

/** How much of an answer is decoded in one piece. */
const windowSize = 64 * 1024

const isBase64 = (character: string): boolean => /^[A-Za-z0-9+/_-]$/.test(character)

/** Replaces a spelling, with the characters of base64 beside it that hold some of its bits. */
const withoutSpelling = (text: string, spelling: Spelling): { readonly text: string; readonly count: number } => {
  const pieces: Array<string> = []
  let from = 0
  for (;;) {
    const found = text.indexOf(spelling.text, from)
    if (found === -1) break
    const end = found + spelling.text.length
    const before = spelling.isBase64 && found > from && isBase64(text.charAt(found - 1)) ? 1 : 0
    const after = spelling.isBase64 && isBase64(text.charAt(end)) ? 1 : 0
    pieces.push(text.slice(from, found - before))
    from = end + after
  }
  return { text: [...pieces, text.slice(from)].join(mark), count: pieces.length }
}

/** Parts of a text that overlap by as much as a spelling may take. */
const windowsOf = (text: string, overlap: number): ReadonlyArray<string> => {
  const size = Math.max(windowSize, 4 * overlap)
  const starts = Array.from({ length: Math.max(1, Math.ceil(text.length / size)) }, (_none, index) => index * size)
  return starts.map((start) => text.slice(start, start + size + overlap))
}

/** Whether a text holds a value in any encoding that `viewsOf` decodes. */
const holds = (text: string, value: string): Effect.Effect<boolean> => {
  const wanted = bytesAsText(value)
  return Effect.gen(function* () {
    const pace = pacing()
    for (const part of windowsOf(text, longestSpelling(value))) {
      for (const view of viewsOf(part)) {
        if (view.includes(wanted)) return true
        yield* pace
      }
    }
    return false
  })
}

/** A text of bytes without values. */
export interface Scrubbed {
  readonly text: string
  /** How often a value was replaced. */
  readonly count: number
}

/**
 * Replaces the spellings of values in a text of bytes. Returns null for a text that cannot be scrubbed, because it holds a value
 * in an encoding, or in an encoding of an encoding, that is not replaced.
 */
export const scrub = (text: string, values: ReadonlyArray<string>): Effect.Effect<Scrubbed | null> =>
  Effect.gen(function* () {
    const pace = pacing()
    let scrubbed: Scrubbed = { text, count: 0 }
    for (const spelling of values.flatMap(spellingsOf).sort((a, b) => b.text.length - a.text.length)) {
      const next = withoutSpelling(scrubbed.text, spelling)
      if (next.count > 0) scrubbed = { text: next.text, count: scrubbed.count + next.count }
      yield* pace
    }
    for (const value of values) if (yield* holds(scrubbed.text, value)) return null
    return scrubbed
  })
