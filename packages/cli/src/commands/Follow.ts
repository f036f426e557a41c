import type { AuditEntry, AuditPage } from "@coffer/domain/AuditEntry"
import { Effect, Option } from "effect"
import { describe, type Failure } from "../Failures.js"
import { note } from "../Output.js"

const pollEvery = "2 seconds"

/** What passes by itself: the server restarts, or a proxy stands before none. */
const passing: ReadonlySet<Failure["_tag"]> = new Set([
  "ServerUnreachable",
  "UnexpectedResponse",
  "NotReady",
  "InternalError"
])

type Read<E, R> = (limit: Option.Option<number>, after: Option.Option<string>) => Effect.Effect<AuditPage, E, R>

/** The entries above a number, oldest first: page after page, back to it; and the number of the newest of all. */
const above = <E, R>(read: Read<E, R>, seq: number) =>
  Effect.gen(function* () {
    const found: Array<AuditEntry> = []
    let page = yield* read(Option.some(100), Option.none())
    const newest = page.data[0]?.seq ?? 0
    for (;;) {
      found.push(...page.data.filter((entry) => entry.seq > seq))
      const { next_cursor } = page.pagination
      if (next_cursor === null || page.data.some((entry) => entry.seq <= seq))
        return { entries: found.reverse(), newest }
      page = yield* read(Option.some(100), Option.some(next_cursor))
    }
  })

/**
 * Prints the newest entries and then each new one, once and in their order, by asking every 2 seconds. It lives through a
 * server that is away for a while; what else the server refuses ends it.
 */
export const follow = <E extends Failure, E2 extends Failure, R, R2>(
  read: Read<E, R>,
  limit: Option.Option<number>,
  print: (entries: ReadonlyArray<AuditEntry>) => Effect.Effect<void, E2, R2>
): Effect.Effect<never, E | E2, R | R2> =>
  Effect.gen(function* () {
    const first = yield* read(limit, Option.none())
    let last = first.data[0]?.seq ?? 0
    let away = false
    if (first.data.length > 0) yield* print(first.data.toReversed())

    const turn = Effect.gen(function* () {
      const { entries, newest } = yield* above(read, last)
      if (away) yield* note("the server answers again")
      away = false
      if (newest < last) yield* note("the log ends earlier than before, as after a restore: going on from there")
      if (entries.length > 0) yield* print(entries)
      last = newest
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
