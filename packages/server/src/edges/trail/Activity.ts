import type { ActivityKind, AuditActivity } from "@coffer/domain/audit/AuditActivity"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Place } from "../../access/Access.js"
import { timestamp } from "../../base/Time.js"
import { mapInSlices, pacing } from "../../base/EventLoop.js"
import { type Filters, isWhole } from "../../audit/Search.js"
import { AuditIndex } from "../../audit/AuditIndex.js"
import { activityRepo, type CountRow, type Positions, type Unit } from "./ActivityRepo.js"
import { type FilterRequest, makeFilters } from "./TrailFilters.js"

const defaultSpans = 48
/** At most how many entries are counted: the newest. */
const maxCounted = 100_000
/** How many entries one statement counts: a statement blocks the event loop. */
const countedAtOnce = 1_000
const maxKinds = 10

interface Length {
  readonly seconds: number
  /** Times may be cut off after this unit without a change of span. */
  readonly unit: Unit
}

const minute = 60
const hour = 60 * minute
const day = 24 * hour
const lengths: ReadonlyArray<Length> = [
  ...[1, 2, 5, 10, 15, 30].map((seconds): Length => ({ seconds, unit: "second" })),
  ...[1, 2, 5, 10, 15, 30].map((minutes): Length => ({ seconds: minutes * minute, unit: "minute" })),
  ...[1, 2, 3, 6, 12].map((hours): Length => ({ seconds: hours * hour, unit: "hour" })),
  ...[1, 2, 7, 14, 28, 56, 112, 364, 728, 3_640].map((days): Length => ({ seconds: days * day, unit: "day" }))
]
/** Holds all of time in one span. */
const longest: Length = { seconds: 3_640_000 * day, unit: "day" }
/** Later times have more digits, and do not compare as texts. */
const lastMoment = Date.UTC(9999, 11, 31)

interface Spans extends Length {
  readonly since: number
  readonly until: number
}

const spansOfLength = (length: Length, from: number, to: number): Spans => {
  const millis = length.seconds * 1_000
  const since = Math.floor(from / millis) * millis
  return { ...length, since, until: Math.max(since + millis, Math.ceil(to / millis) * millis) }
}

/** Divides a time into at most `most` spans of equal length, which begin at round times. */
const spansOf = (from: number, to: number, most: number): Spans => {
  const fits = ({ seconds, since, until }: Spans) => until - since <= seconds * 1_000 * most
  return lengths.map((length) => spansOfLength(length, from, to)).find(fits) ?? spansOfLength(longest, from, to)
}

/** The time of a row in milliseconds, whatever its unit. */
const millisOf = (time: string): number => Date.parse(time + "0000-01-01T00:00:00.000Z".slice(time.length))

const kindsOf = (rows: ReadonlyMap<string, ReadonlyArray<number>>): ReadonlyArray<ActivityKind> =>
  [...rows]
    .map(([name, counts]) => ({ name, entries: counts.reduce((sum, count) => sum + count, 0), counts }))
    .sort((one, other) => other.entries - one.entries || (one.name < other.name ? -1 : 1))
    .slice(0, maxKinds)

/** Adds rows up by span, by action and by actor. */
const tally = ({ seconds, since, until }: Spans) => {
  const spans = Math.round((until - since) / (seconds * 1_000))
  const none = () => Array.from({ length: spans }, () => 0)
  const total = none()
  const actions = new Map<string, Array<number>>()
  const actors = new Map<string, Array<number>>()
  const increase = (of: Map<string, Array<number>>, name: string, span: number, entries: number) => {
    const counts = of.get(name) ?? none()
    counts[span] = (counts[span] ?? 0) + entries
    of.set(name, counts)
  }
  return {
    add: ({ action, actor_name, entries, time }: CountRow): void => {
      const span = Math.min(spans - 1, Math.max(0, Math.floor((millisOf(time) - since) / (seconds * 1_000))))
      total[span] = (total[span] ?? 0) + entries
      increase(actions, action, span, entries)
      increase(actors, actor_name, span, entries)
    },
    result: () => ({
      entries: total.reduce((sum, count) => sum + count, 0),
      counts: total,
      actions: kindsOf(actions),
      actors: kindsOf(actors)
    })
  }
}

export interface ActivityRequest extends FilterRequest {
  /** Inclusive. */
  readonly since?: string
  /** Exclusive. */
  readonly until?: string
  readonly spans?: number
}

interface Counted {
  readonly rows: ReadonlyArray<CountRow>
  readonly spans: Spans
  readonly isComplete: boolean
}

/** The spans of time from a moment on; from the wanted one, if it is undefined. */
type SpansSince = (moment: string | undefined) => Spans

/** How much of an audit log happened when. */
export class Activity extends Effect.Service<Activity>()("@coffer/server/Activity", {
  effect: Effect.gen(function* () {
    const repo = yield* activityRepo
    const filtersOf = yield* makeFilters

    /** Counts all entries from a number to below another one; the newest, if there are too many. */
    const countAll = Effect.fnUntraced(function* (spansSince: SpansSince, log: string, from: number, below: number) {
      const first = Math.max(from, below - maxCounted)
      const isComplete = first === from
      const spans = spansSince(isComplete ? undefined : (yield* repo.momentFrom({ log, seq: first }))?.created_at)
      const rows: Array<CountRow> = []
      const pace = pacing()
      for (let seq = first; seq < below; seq += countedAtOnce) {
        rows.push(...(yield* repo.counts(spans.unit, log, seq, Math.min(below, seq + countedAtOnce))))
        yield* pace
      }
      const counted: Counted = { rows, spans, isComplete }
      return counted
    })

    /**
     * Counts the entries at some positions that match, from the newest to the oldest, until there are too many. Where few match, a
     * statement covers more positions. No statement finds more than its positions, so one that covers `countedAtOnce` succeeds.
     */
    const matchesAt = Effect.fnUntraced(function* (unit: Unit, filters: Filters, { below: end, from }: Positions) {
      const rows: Array<CountRow> = []
      const pace = pacing()
      let [below, width, entries, oldest] = [end, countedAtOnce, 0, end]
      while (below > from) {
        const begin = Math.max(from, below - width)
        const found = yield* repo.matches(unit, filters, { from: begin, below }, countedAtOnce + 1)
        const matching = found.reduce((sum, row) => sum + row.entries, 0)
        yield* pace
        if (matching > countedAtOnce) {
          width = Math.max(countedAtOnce, Math.ceil(width / 2))
          continue
        }
        if (entries + matching > maxCounted) break
        entries += matching
        oldest = found.reduce((least, row) => Math.min(least, row.oldest), oldest)
        rows.push(...found)
        below = begin
        if (matching < countedAtOnce / 4) width *= 2
      }
      return { rows, oldest, reached: below }
    })

    /** Counts matching entries as `countAll` counts all. Which entries are too many is known once they are counted. */
    const countMatches = Effect.fnUntraced(function* (spansSince: SpansSince, filters: Filters, positions: Positions) {
      const wanted = spansSince(undefined)
      const { oldest, reached, rows } = yield* matchesAt(wanted.unit, filters, positions)
      if (reached <= positions.from) {
        const complete: Counted = { rows, spans: wanted, isComplete: true }
        return complete
      }
      const spans = spansSince((yield* repo.momentAt({ position: oldest }))?.created_at)
      // Shorter spans need the times of the entries to a smaller unit.
      const exact = yield* matchesAt(spans.unit, filters, { ...positions, from: reached })
      const counted: Counted = { rows: exact.rows, spans, isComplete: false }
      return counted
    })

    /** Counts the entries of an organization's log in spans of time. Whole spans are counted: the first may begin earlier. */
    const ofOrganization = Effect.fnUntraced(function* (
      place: Place<"audit.read">,
      { since, spans: most = defaultSpans, until, ...request }: ActivityRequest
    ) {
      const log = place.org.id
      const filters = yield* filtersOf(log, request)
      const to = until === undefined ? yield* Clock.currentTimeMillis : Date.parse(until)
      const oldest = yield* repo.momentFrom({ log, seq: 0 })
      const from = Math.max(0, Math.min(to, Date.parse(since ?? oldest?.created_at ?? timestamp(to))))
      const wanted = spansOf(from, to, most)
      const times = { since: timestamp(wanted.since), until: timestamp(Math.min(wanted.until, lastMoment)) }
      const range = yield* repo.rangeOf(log, times, null)
      const first = range.from ?? 0
      const below = range.below ?? (yield* repo.endOf(log))
      const spansSince: SpansSince = (moment) => (moment === undefined ? wanted : spansOf(Date.parse(moment), to, most))
      const { isComplete, rows, spans } = isWhole(filters)
        ? yield* countAll(spansSince, log, first, below)
        : yield* countMatches(spansSince, filters, yield* repo.positionsOf(filters, first, below))
      const sum = tally(spans)
      yield* mapInSlices(rows, sum.add)
      const answer: AuditActivity = {
        since: timestamp(spans.since),
        seconds: spans.seconds,
        complete: isComplete,
        ...sum.result()
      }
      return answer
    })

    return { ofOrganization } as const
  }),
  dependencies: [AuditIndex.Default]
}) {}
