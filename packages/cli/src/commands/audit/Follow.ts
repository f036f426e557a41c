import type { AuditEntry, AuditPage } from "@coffer/domain/AuditEntry"
import { Effect } from "effect"
import { describe, type Failure } from "../../Failures.js"
import type { Output } from "../../terminal/Output.js"
import { note } from "../../terminal/Print.js"

const pollEvery = "2 seconds"

/** What passes by itself: the server restarts, or a proxy stands before none. */
const passing: ReadonlySet<Failure["_tag"]> = new Set([
  "ServerUnreachable",
  "UnexpectedResponse",
  "NotReady",
  "InternalError"
])

type Read<E, R> = (limit: number | undefined, after: string | undefined) => Effect.Effect<AuditPage, E, R>

/** The newest number of each log that was seen: entries are numbered by log, and a server has one for each organization. */
type Seen = ReadonlyMap<string, number>

const logOf = ({ org_id }: AuditEntry): string => org_id ?? ""

const isSeen = (seen: Seen, entry: AuditEntry): boolean => entry.seq <= (seen.get(logOf(entry)) ?? 0)

/** Entries come newest first, so the first one of each log has its newest number. */
const newestOf = (entries: ReadonlyArray<AuditEntry>): Seen =>
  new Map(entries.toReversed().map((entry) => [logOf(entry), entry.seq]))

/** The entries that are newer than every one that was seen, oldest first: page after page, back to the first of those. */
const above = <E, R>(read: Read<E, R>, seen: Seen) =>
  Effect.gen(function* () {
    const found: Array<AuditEntry> = []
    let page = yield* read(100, undefined)
    const [newest] = page.data
    for (;;) {
      const known = page.data.findIndex((entry) => isSeen(seen, entry))
      found.push(...(known < 0 ? page.data : page.data.slice(0, known)))
      const { next_cursor } = page.pagination
      if (next_cursor === null || known >= 0) return { entries: found.reverse(), newest }
      page = yield* read(100, next_cursor)
    }
  })

/**
 * Prints the newest entries and then each new one, once and in their order, by asking every 2 seconds. It lives through a
 * server that is away for a while; what else the server refuses ends it.
 */
export const follow = <E extends Failure, E2 extends Failure, R, R2>(
  read: Read<E, R>,
  limit: number | undefined,
  print: (entries: ReadonlyArray<AuditEntry>) => Effect.Effect<void, E2, R2>
): Effect.Effect<never, E | E2, R | R2 | Output> =>
  Effect.gen(function* () {
    const first = yield* read(limit, undefined)
    let seen = newestOf(first.data)
    let away = false
    if (first.data.length > 0) yield* print(first.data.toReversed())

    const turn = Effect.gen(function* () {
      const { entries, newest } = yield* above(read, seen)
      if (away) yield* note("the server answers again")
      away = false
      const isSetBack = newest === undefined ? seen.size > 0 : newest.seq < (seen.get(logOf(newest)) ?? 0)
      if (isSetBack) yield* note("the log ends earlier than before, as after a restore: going on from there")
      if (entries.length > 0) yield* print(entries)
      if (isSetBack) seen = newestOf((yield* read(100, undefined)).data)
      else seen = new Map([...seen, ...newestOf(entries.toReversed())])
    }).pipe(
      Effect.catchIf(
        (failure) => passing.has(failure._tag),
        (failure) => {
          if (away) return Effect.void
          away = true
          return note(`${describe(failure).sentence}; still trying`)
        }
      )
    )
    return yield* Effect.forever(Effect.zipRight(Effect.sleep(pollEvery), turn))
  })
