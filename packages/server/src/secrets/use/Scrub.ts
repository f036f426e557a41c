import * as Effect from "effect/Effect"
import { forEachInSlices } from "../../base/EventLoop.js"
import { viewsHold } from "./Decoders.js"
import { makeMatcher, type Matcher } from "./Matcher.js"
import { bytesAsText, spellingsOf } from "@coffer/domain/secrets/Spellings"

export const mark = "[scrubbed]"

const isBase64 = (character: string): boolean => /^[A-Za-z0-9+/_-]$/.test(character)

/** The kinds of patterns: spellings of base64 may have characters at their sides that hold some bits of the value. */
const plain = 0
const base64 = 1

/** Parts of a text, in their order and apart from each other, as their bounds in turn. */
export const occurrences = (spellings: Matcher, text: string): Effect.Effect<ReadonlyArray<number>> => {
  const bounds: Array<number> = []
  const add = (from: number, to: number): void => {
    let start = from
    // The part becomes one with the parts that it overlaps or touches.
    while (bounds.length > 0 && (bounds.at(-1) ?? 0) >= start) {
      bounds.pop()
      start = Math.min(start, bounds.pop() ?? start)
    }
    bounds.push(start, to)
  }
  const scanned = spellings.scan(text, (index, state) => {
    const end = index + 1
    const length = spellings.longest(plain, state)
    if (length > 0) add(end - length, end)
    const core = spellings.longest(base64, state)
    if (core > 0) {
      const start = end - core
      add(start - (start > 0 && isBase64(text.charAt(start - 1)) ? 1 : 0), end + (isBase64(text.charAt(end)) ? 1 : 0))
    }
    return false
  })
  return Effect.as(scanned, bounds)
}

/** A text of bytes without values. */
export interface Scrubbed {
  readonly text: string
  /** How many parts were replaced. */
  readonly count: number
}

/** Replaces values in texts of bytes. Returns null for a text that holds a value in an encoding that is not replaced. */
export type Scrub = (text: string) => Effect.Effect<Scrubbed | null>

/** Matchers of the spellings that are replaced, and of the values as they are. */
export const matchersOf = Effect.fnUntraced(function* (values: ReadonlyArray<string>) {
  const spellings = (yield* forEachInSlices(values, (one) => Effect.sync(() => spellingsOf(one)))).flat()
  const textsOf = (wanted: boolean) => [
    ...new Set(spellings.filter((one) => one.isBase64 === wanted).map(({ text }) => text))
  ]
  const replaced = yield* makeMatcher([
    { kind: plain, texts: textsOf(false) },
    { kind: base64, texts: textsOf(true) }
  ])
  const exact = yield* makeMatcher([{ kind: plain, texts: values.map(bytesAsText) }])
  return { exact, replaced } as const
})

/**
 * Makes the scrub of values: replaces their spellings in a text of bytes. A text cannot be scrubbed if it holds a value in an
 * encoding, or in an encoding of an encoding, that is not replaced.
 */
export const makeScrub = Effect.fnUntraced(function* (values: ReadonlyArray<string>) {
  const { exact, replaced } = yield* matchersOf(values)
  const scrub: Scrub = (text) =>
    Effect.gen(function* () {
      const bounds = yield* occurrences(replaced, text)
      const pieces: Array<string> = []
      let from = 0
      for (let at = 0; at < bounds.length; at += 2) {
        pieces.push(text.slice(from, bounds[at]))
        from = bounds[at + 1] ?? from
      }
      const clean = [...pieces, text.slice(from)].join(mark)
      return (yield* viewsHold(clean, exact)) ? null : { text: clean, count: pieces.length }
    })
  return scrub
})
