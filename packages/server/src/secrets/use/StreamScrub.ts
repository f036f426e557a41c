import { longestSpelling } from "@coffer/domain/secrets/Spellings"
import * as Effect from "effect/Effect"
import { viewsHold } from "./Decoders.js"
import { mark, matchersOf, occurrences, type Scrubbed } from "./Scrub.js"

/** A text that is only spellings in a row is held back as a whole. No response of use has so much of it. */
const maxHeld = 64 * 1024

/** How much of the text before is decoded together with the next. Values in an encoding of an encoding are longer at times. */
const maxLookedBack = 8 * 1024

/** The scrub of a text that comes in parts. */
export interface StreamScrub {
  /** Returns the text that can be passed on, without values. Null: it holds a value in an encoding that is not replaced. */
  readonly push: (text: string) => Effect.Effect<Scrubbed | null>
  /** The same for the text that was held back, at the end. */
  readonly end: Effect.Effect<Scrubbed | null>
}

/**
 * Makes the scrub of a stream of bytes. The end of a part is held back where it may be the beginning of a spelling: as much of it as
 * a spelling begins with, and one character more, which may hold some bits of a value in base64.
 */
export const makeStreamScrub = Effect.fnUntraced(function* (values: ReadonlyArray<string>) {
  const { exact, replaced } = yield* matchersOf(values)
  const lookedBack = Math.min(maxLookedBack, Math.max(0, ...values.map(longestSpelling)))
  let held = ""
  let before = ""

  const pass = (text: string, bounds: ReadonlyArray<number>, cut: number): Effect.Effect<Scrubbed | null> =>
    Effect.gen(function* () {
      const pieces: Array<string> = []
      let from = 0
      for (let at = 0; at < bounds.length && (bounds[at] ?? 0) < cut; at += 2) {
        pieces.push(text.slice(from, bounds[at]))
        from = bounds[at + 1] ?? from
      }
      const clean = [...pieces, text.slice(from, cut)].join(mark)
      held = text.slice(cut)
      if (yield* viewsHold(before + clean, exact)) return null
      before = (before + clean).slice(-lookedBack)
      return { text: clean, count: pieces.length }
    })

  const push = (part: string): Effect.Effect<Scrubbed | null> =>
    Effect.gen(function* () {
      const text = held + part
      const bounds = yield* occurrences(replaced, text)
      let cut = Math.max(0, text.length - (yield* replaced.openEnd(text)) - 1)
      for (let at = 0; at < bounds.length; at += 2) {
        const [start = 0, end = 0] = [bounds[at], bounds[at + 1]]
        if (start < cut && end > cut) cut = start
      }
      if (text.length - cut > maxHeld) return null
      return yield* pass(text, bounds, cut)
    })

  const end = Effect.suspend(() =>
    Effect.flatMap(occurrences(replaced, held), (bounds) => pass(held, bounds, held.length))
  )
  return { push, end } satisfies StreamScrub
})
