import type { ActivityKind, AuditActivity } from "@coffer/domain/audit/AuditActivity"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Place } from "../../access/Access.js"
import { timestamp } from "../../base/Time.js"
import { pacing } from "../../base/EventLoop.js"
import { activityRepo, type CountRow, type Unit } from "./ActivityRepo.js"

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

export interface ActivityRequest {
  /** Inclusive. */
  readonly since?: string
  /** Exclusive. */
  readonly until?: string
  readonly spans?: number
}

/** How much of an audit log happened when. */
export class Activity extends Effect.Service<Activity>()("@coffer/server/Activity", {
  effect: Effect.gen(function* () {
    const repo = yield* activityRepo

    /** Counts the entries of an organization's log in spans of time. Whole spans are counted: the first may begin earlier. */
    const ofOrganization = Effect.fnUntraced(function* (
      place: Place<"audit.read">,
      { since, spans: most = defaultSpans, until }: ActivityRequest
    ) {
      const log = place.org.id
      const to = until === undefined ? yield* Clock.currentTimeMillis : Date.parse(until)
      const oldest = yield* repo.momentFrom({ log, seq: 0 })
      const from = Math.max(0, Math.min(to, Date.parse(since ?? oldest?.created_at ?? timestamp(to))))
      const wanted = spansOf(from, to, most)
      const times = { since: timestamp(wanted.since), until: timestamp(Math.min(wanted.until, lastMoment)) }
      const range = yield* repo.rangeOf(log, times, null)
      const below = range.below ?? (yield* repo.endOf(log))
      const first = Math.max(range.from ?? 0, below - maxCounted)
      const isComplete = first === (range.from ?? 0)
      const begin = isComplete ? undefined : yield* repo.momentFrom({ log, seq: first })
      const spans = begin === undefined ? wanted : spansOf(Date.parse(begin.created_at), to, most)
      const sum = tally(spans)
      const pace = pacing()
      for (let seq = first; seq < below; seq += countedAtOnce) {
        const rows = yield* repo.counts(spans.unit, log, seq, Math.min(below, seq + countedAtOnce))
        for (const row of rows) sum.add(row)
        yield* pace
      }
      const answer: AuditActivity = {
        since: timestamp(spans.since),
        seconds: spans.seconds,
        complete: isComplete,
        ...sum.result()
      }
      return answer
    })

    return { ofOrganization } as const
  })
}) {}
