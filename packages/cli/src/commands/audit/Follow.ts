import type { AuditEntry, AuditPage } from "@coffer/domain/audit/AuditEntry"
import { maxPageSize } from "@coffer/domain/base/Schemas"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { describe } from "../../base/Describe.js"
import type { Failure } from "../../base/Failures.js"
import type { Output } from "../../terminal/Output.js"
import { note } from "../../terminal/Print.js"

const pollEvery = "2 seconds"

/** Whether a later read may succeed: the server restarts or is at its limit, or a proxy does not reach it. */
const isPassing = (failure: Failure): boolean =>
  "handling" in failure
    ? failure.handling.retry !== "never"
    : failure._tag === "ServerUnreachable" || failure._tag === "UnexpectedResponse"

type Read<E, R> = (limit: number | undefined, after: string | undefined) => Effect.Effect<AuditPage, E, R>

/** The newest number of each log that was seen: entries are numbered by log, and a server has one for each organization. */
type Seen = ReadonlyMap<string, number>

const logOf = ({ org_id }: AuditEntry): string => org_id ?? ""

const isSeen = (seen: Seen, entry: AuditEntry): boolean => entry.seq <= (seen.get(logOf(entry)) ?? 0)

/** Entries come newest first, so the first one of each log has its newest number. */
const newestOf = (entries: ReadonlyArray<AuditEntry>): Seen =>
  new Map(entries.toReversed().map((entry) => [logOf(entry), entry.seq]))

/**
 * Reads entries from the newest or from a cursor on, newest first, until one is `last`, which is left out. Also returns the
 * very first entry, whatever it is.
 */
const back = <E, R>(read: Read<E, R>, last: (entry: AuditEntry) => boolean, cursor?: string) =>
  Effect.gen(function* () {
    const entries: Array<AuditEntry> = []
    let page = yield* read(maxPageSize, cursor)
    const [first] = page.data
    for (;;) {
      const end = page.data.findIndex(last)
      entries.push(...(end < 0 ? page.data : page.data.slice(0, end)))
      const { next_cursor } = page.pagination
      if (next_cursor === null || end >= 0) return { entries, first }
      page = yield* read(maxPageSize, next_cursor)
    }
  })

/**
 * Whether an entry is so much older than another that nothing is committed beside it any more. Entries of several logs are
 * listed in the order in which they were written, and on PostgreSQL one can be committed after a later one of another log.
 */
const isSettled = (entry: AuditEntry, newest: AuditEntry | undefined, lateness: Duration.DurationInput): boolean =>
  newest === undefined || Date.parse(entry.created_at) <= Date.parse(newest.created_at) - Duration.toMillis(lateness)

export interface Followed<E, R, E2, R2> {
  readonly read: Read<E, R>
  /** How many entries are printed at first. */
  readonly limit: number | undefined
  /** How much later than others an entry may be committed: 0 for one log. */
  readonly lateness: Duration.DurationInput
  readonly print: (entries: ReadonlyArray<AuditEntry>) => Effect.Effect<void, E2, R2>
}

/**
 * Prints the newest entries and then each new one, once and in the order of its log, by asking every 2 seconds. It lives
 * through a server that is away for a while; what else the server refuses ends it.
 */
export const follow = <E extends Failure, E2 extends Failure, R, R2>({
  lateness,
  limit,
  print,
  read
}: Followed<E, R, E2, R2>): Effect.Effect<never, E | E2, R | R2 | Output> =>
  Effect.gen(function* () {
    const first = yield* read(limit, undefined)
    const { next_cursor } = first.pagination
    let [newest] = first.data
    // Entries that were there before are not late.
    const before =
      next_cursor === null
        ? []
        : (yield* back(read, (entry) => isSettled(entry, newest, lateness), next_cursor)).entries
    let seen = newestOf([...first.data, ...before])
    let away = false
    if (first.data.length > 0) yield* print(first.data.toReversed())

    const poll = Effect.gen(function* () {
      let isKnown = false
      const listed = yield* back(read, (entry) => {
        isKnown ||= isSeen(seen, entry)
        return isKnown && isSettled(entry, newest, lateness)
      })
      const entries = listed.entries.filter((entry) => !isSeen(seen, entry)).reverse()
      if (away) yield* note("the server answers again")
      away = false
      const latest = listed.first
      const isSetBack = latest === undefined ? seen.size > 0 : latest.seq < (seen.get(logOf(latest)) ?? 0)
      if (isSetBack) yield* note("the log ends earlier than before, as after a restore: going on from there")
      if (entries.length > 0) yield* print(entries)
      if (isSetBack) seen = newestOf((yield* read(maxPageSize, undefined)).data)
      else seen = new Map([...seen, ...newestOf(entries.toReversed())])
      newest = latest ?? newest
    }).pipe(
      Effect.catchIf(isPassing, (failure) => {
        if (away) return Effect.void
        away = true
        return note(`${describe(failure).sentence}; still trying`)
      })
    )
    return yield* Effect.forever(Effect.zipRight(Effect.sleep(pollEvery), poll))
  })
