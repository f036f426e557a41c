import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { Database } from "../Database.js"
import { query } from "../Query.js"
import { timestamp } from "../../base/Time.js"
import { uuidV7At } from "../../base/Uuid.js"
import { makeRefusals, makeTurns } from "./Attempts.js"
import { hourMillis, makePurge } from "../jobs/Purge.js"

export const rateEventPurge = makePurge({ table: "rate_events", lifetime: hourMillis })

/** At most `max` events of a kind for each subject in `window` milliseconds. */
export interface RateLimit {
  readonly kind: string
  readonly max: number
  readonly window: number
}

const MomentRow = Schema.Struct({ created_at: Schema.String })

/** Seconds until fewer than `max` of the moments, which are sorted oldest first, are within the window. */
export const secondsLeft = (
  moments: ReadonlyArray<typeof MomentRow.Type>,
  { max, window }: Pick<RateLimit, "max" | "window">,
  millis: number
): number => {
  const leaving = moments[moments.length - max]
  return leaving === undefined ? 1 : Math.max(1, Math.ceil((Date.parse(leaving.created_at) + window - millis) / 1000))
}

/** Rate limits that survive a restart. Maintenance deletes events after an hour, so no window may be longer. */
export class RateLimits extends Effect.Service<RateLimits>()("@coffer/server/RateLimits", {
  effect: Effect.gen(function* () {
    const { all, write } = yield* query
    const { clock, lock } = yield* Database

    const momentsBetween = all(MomentRow)`
      SELECT created_at FROM rate_events
      WHERE kind = ${"kind"} AND subject = ${"subject"} AND created_at > ${"since"} AND created_at <= ${"now"}
      ORDER BY created_at`

    const insert = write`
      INSERT INTO rate_events (id, kind, subject, created_at) VALUES (${"id"}, ${"kind"}, ${"subject"}, ${"now"})`

    const forget = write`DELETE FROM rate_events WHERE id = ${"id"}`

    const refusals = makeRefusals()
    const inTurn = makeTurns()
    const nameOf = ({ kind }: RateLimit, subject: string): string => `${kind} ${subject}`

    return {
      /** Runs a transaction of a subject after those of the subject that came before, without a connection meanwhile. */
      inTurn,

      /**
       * Runs a transaction that asks `wait`, in the subject's turn. Fails with what `refused` returns, without a connection, if
       * the subject was over the limit within the last second.
       */
      limited:
        <E2>(limit: RateLimit, subject: string, refused: (seconds: number) => E2) =>
        <A, E, R>(transaction: Effect.Effect<A, E, R>): Effect.Effect<A, E | E2, R> => {
          const name = nameOf(limit, subject)
          const check = Effect.flatMap(refusals.secondsOf(name), (seconds) =>
            seconds === 0 ? Effect.void : Effect.fail(refused(seconds))
          )
          // Those before may have been refused meanwhile.
          return Effect.zipRight(check, inTurn(name)(Effect.zipRight(check, transaction)))
        },

      /**
       * Seconds that the subject has to wait; 0 if it is below the limit. Events from a clock that was ahead do not count.
       * The transaction keeps others of the subject waiting, so that they count its event. The time is read after the wait:
       * by an earlier one, the events of those before would be in the future.
       */
      wait: Effect.fnUntraced(function* (limit: RateLimit, subject: string) {
        yield* lock(`rate limit ${nameOf(limit, subject)}`)
        const millis = yield* clock
        const moments = yield* momentsBetween({
          kind: limit.kind,
          subject,
          since: timestamp(millis - limit.window),
          now: timestamp(millis)
        })
        if (moments.length < limit.max) return 0
        const seconds = secondsLeft(moments, limit, millis)
        refusals.remember(nameOf(limit, subject), seconds, yield* Clock.currentTimeMillis)
        return seconds
      }),

      /** Counts an event, and returns its id. Call it in the transaction of the event. */
      count: ({ kind }: RateLimit, subject: string) =>
        Effect.flatMap(clock, (millis) => {
          const id = uuidV7At(millis)
          return Effect.as(insert({ id, kind, subject, now: timestamp(millis) }), id)
        }),

      /** Takes back an event that did not happen after all. */
      forget
    } as const
  })
}) {}
