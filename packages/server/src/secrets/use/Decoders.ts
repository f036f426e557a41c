import * as Effect from "effect/Effect"
import { pacing } from "../../base/EventLoop.js"
import type { Matcher } from "./Matcher.js"

/** How many parts of a text, and of how many characters, are decoded between two looks at the clock. */
const partsAtOnce = 256
const charactersAtOnce = 16_384

/** Goes through the matches of a global pattern in slices of the event loop, and joins what `decode` makes of each. */
const eachMatch = (text: string, form: RegExp, decode: (match: RegExpExecArray) => string) =>
  Effect.gen(function* () {
    const pace = pacing()
    // Its position is of this text alone.
    const pattern = new RegExp(form)
    // Joined in two steps: joining a million pieces at once would hold the event loop.
    const chunks: Array<string> = []
    let pieces: Array<string> = []
    let characters = 0
    for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
      pieces.push(decode(match))
      characters += match[0].length
      if (pieces.length < partsAtOnce && characters < charactersAtOnce) continue
      chunks.push(pieces.join(""))
      pieces = []
      characters = 0
      yield* pace
    }
    return chunks.length + pieces.length === 0 ? null : [...chunks, ...pieces].join("")
  })

/** Replaces each match. Null if there is none. */
const replaced = (text: string, form: RegExp, decode: (match: RegExpExecArray) => string) =>
  Effect.suspend(() => {
    let from = 0
    const decoded = eachMatch(text, form, (match) => {
      const before = text.slice(from, match.index)
      from = match.index + match[0].length
      return before + decode(match)
    })
    return Effect.map(decoded, (done) => (done === null ? null : done + text.slice(from)))
  })

/** Decodes each match, a line each. Null if there is none. */
const runs = (text: string, form: RegExp, decode: (run: string) => string) =>
  eachMatch(text, form, ([run]) => `${decode(run)}\n`)

/** Undoes one encoding wherever it occurs in a text of bytes. Null if the text has nothing to decode. */
type Decoder = (text: string) => Effect.Effect<string | null>

const byte = (hex: string): string => String.fromCharCode(Number.parseInt(hex, 16))

const percent: Decoder = (text) => replaced(text, /%([0-9A-Fa-f]{2})/g, ([, hex = ""]) => byte(hex))

/** As forms are encoded. */
const percentAndPlus: Decoder = (text) =>
  text.includes("+")
    ? replaced(text, /%([0-9A-Fa-f]{2})|\+/g, ([, hex]) => (hex === undefined ? " " : byte(hex)))
    : Effect.succeed(null)

const controls: Readonly<Record<string, string>> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" }

/** The bytes of characters that were escaped as UTF-16. */
const utf8 = (units: string): string => Buffer.from(units).toString("latin1")

/** Escapes of UTF-16, of which a pair is not cut, or one other escape. */
const jsonEscape =
  /((?:\\u[dD][89abAB][0-9A-Fa-f]{2}\\u[dD][c-fC-F][0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}){1,1024})|\\x([0-9A-Fa-f]{2})|\\(.)/gs

const json: Decoder = (text) =>
  replaced(text, jsonEscape, ([, units, hex, other = ""]) =>
    units !== undefined
      ? utf8(units.replace(/\\u([0-9A-Fa-f]{4})/g, (_one, code: string) => byte(code)))
      : hex !== undefined
        ? byte(hex)
        : (controls[other] ?? other)
  )

const entities: Readonly<Record<string, string>> = { amp: "&", apos: "'", gt: ">", lt: "<", quot: '"' }

const html: Decoder = (text) =>
  replaced(text, /&(?:#([0-9]{1,7})|#[xX]([0-9A-Fa-f]{1,6})|([a-z]{2,4}));/g, ([all, decimal, hex = "", name]) => {
    if (name !== undefined) return entities[name] ?? all
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
    return code <= 0x10ffff ? utf8(String.fromCodePoint(code)) : all
  })

/** Text in UTF-16, in lines, or with separators between bytes. */
const packed: Decoder = (text) => replaced(text, /[\s:\0]+/g, () => "")

/** From each character of a group. Shorter runs hold no value that a rule may use. */
const base64 = [0, 1, 2, 3].map(
  (skipped): Decoder =>
    (text) =>
      runs(text, /[A-Za-z0-9+/_-]{10,}/g, (run) => Buffer.from(run.slice(skipped), "base64").toString("latin1"))
)

const hex = [0, 1].map(
  (skipped): Decoder =>
    (text) =>
      runs(text, /[0-9A-Fa-f]{16,}/g, (run) => Buffer.from(run.slice(skipped), "hex").toString("latin1"))
)

const decoders: ReadonlyArray<Decoder> = [percent, percentAndPlus, json, html, ...base64, ...hex, packed]

/** How often a text is decoded. */
const depth = 2

/** Whether a text holds a pattern, as it is or decoded by every decoder, up to `left` times. */
export const viewsHold = (text: string, patterns: Matcher, left = depth): Effect.Effect<boolean> =>
  Effect.gen(function* () {
    if (yield* patterns.scan(text, () => true)) return true
    if (left === 0) return false
    for (const decode of decoders) {
      const view = yield* decode(text)
      if (view !== null && (yield* viewsHold(view, patterns, left - 1))) return true
    }
    return false
  })
