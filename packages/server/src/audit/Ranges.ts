import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { query } from "../database/Query.js"
import { type Bounds, type Filters, isWhole, type Range, type Times } from "./Search.js"

const NumberRow = Schema.Struct({ number: Schema.NullOr(Schema.Number) })
const PositionRow = Schema.Struct({ position: Schema.Number })
const MomentRow = Schema.Struct({ created_at: Schema.String })

/** The size of a block of `audit_times`, which records the oldest and newest time of each block. */
const positionsInBlock = 1024

export const blockOf = (position: number): number => Math.floor(position / positionsInBlock)

const everything: Range = { from: null, below: null, times: null }

const smallest = (...found: ReadonlyArray<number | null>): number | null => {
  const known = found.filter((number) => number !== null)
  return known.length === 0 ? null : Math.min(...known)
}

/** Converts ranges of time to ranges of sequence numbers, and these to ranges of positions. */
export const makeRanges = Effect.gen(function* () {
  const { first, one } = yield* query

  const firstSeq = one(NumberRow)`SELECT min(seq) AS number FROM audit_entries WHERE log = ${"log"}`
  const lastSeq = one(NumberRow)`SELECT max(seq) AS number FROM audit_entries WHERE log = ${"log"}`
  const momentFrom = first(MomentRow)`
    SELECT created_at FROM audit_entries WHERE log = ${"log"} AND seq >= ${"seq"} ORDER BY seq LIMIT 1`
  const positionFrom = first(PositionRow)`
    SELECT position FROM audit_entries WHERE log = ${"log"} AND seq >= ${"seq"} ORDER BY seq LIMIT 1`
  const firstBlock = one(NumberRow)`SELECT min(block) AS number FROM audit_times WHERE newest >= ${"since"}`
  const lastBlock = one(NumberRow)`SELECT max(block) AS number FROM audit_times WHERE oldest < ${"until"}`

  /** The next number of a log. */
  const endOf = (log: string) => Effect.map(lastSeq({ log }), ({ number }) => (number ?? 0) + 1)

  /** The first number at or after a moment, by binary search: time never goes back in a log. */
  const seqFrom = Effect.fnUntraced(function* (log: string, moment: string) {
    let low = (yield* firstSeq({ log })).number ?? 1
    let high = yield* endOf(log)
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      const found = yield* momentFrom({ log, seq: middle })
      if (found !== undefined && found.created_at < moment) low = middle + 1
      else high = middle
    }
    return low
  })

  /** The range of a time span, below a number or position. Without a log, it is exact to a block only. */
  const rangeOf = Effect.fnUntraced(function* (log: string | undefined, { since, until }: Times, below: number | null) {
    if (since === null && until === null) return { ...everything, below }
    if (log !== undefined) {
      const range: Range = {
        from: since === null ? null : yield* seqFrom(log, since),
        below: smallest(below, until === null ? null : yield* seqFrom(log, until)),
        times: null
      }
      return range
    }
    const from = since === null ? null : ((yield* firstBlock({ since })).number ?? 2 ** 42)
    const last = until === null ? null : ((yield* lastBlock({ until })).number ?? -1)
    const range: Range = {
      from: from === null ? null : from * positionsInBlock,
      below: smallest(below, last === null ? null : (last + 1) * positionsInBlock),
      times: { since, until }
    }
    return range
  })

  const positionOf = (log: string, seq: number | null) =>
    seq === null
      ? Effect.succeed(null)
      : Effect.map(positionFrom({ log, seq }), (row) => row?.position ?? Number.MAX_SAFE_INTEGER)

  /** The bounds of a range as positions, if the filters search by position. */
  const positionsOf = Effect.fnUntraced(function* (filters: Filters, { below, from }: Range) {
    const { log } = filters
    const bounds: Bounds =
      log !== undefined && !isWhole(filters)
        ? { from: yield* positionOf(log, from), below: yield* positionOf(log, below) }
        : { from, below }
    return bounds
  })

  /** The position of the first entry at or after a moment, and whether the log still has an entry before it. */
  const since = Effect.fnUntraced(function* (log: string, moment: string) {
    const from = yield* seqFrom(log, moment)
    const { number: oldest } = yield* firstSeq({ log })
    return { position: (yield* positionOf(log, from)) ?? 0, reaches: oldest !== null && oldest < from }
  })

  return { endOf, rangeOf, positionsOf, since } as const
})
