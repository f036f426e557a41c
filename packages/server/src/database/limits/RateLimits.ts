import { Effect, Schema } from "effect"
import { Database } from "../Database.js"
import { query } from "../Query.js"
import { timestamp } from "../../base/Time.js"
import { uuidV7At } from "../../base/Uuid.js"

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

    return {
      /**
       * Seconds that the subject has to wait; 0 if it is below the limit. Events from a clock that was ahead do not count.
       * The transaction keeps others of the subject waiting, so that they count its event. The time is read after the wait:
       * by an earlier one, the events of those before would be in the future.
       */
      wait: Effect.fnUntraced(function* (limit: RateLimit, subject: string) {
        yield* lock(`rate limit ${limit.kind} ${subject}`)
        const millis = yield* clock
        const moments = yield* momentsBetween({
          kind: limit.kind,
          subject,
          since: timestamp(millis - limit.window),
          now: timestamp(millis)
        })
        return moments.length < limit.max ? 0 : secondsLeft(moments, limit, millis)
      }),

      /** Counts an event. Call it in the transaction of the event. */
      count: ({ kind }: RateLimit, subject: string) =>
        Effect.flatMap(clock, (millis) => insert({ id: uuidV7At(millis), kind, subject, now: timestamp(millis) }))
    } as const
  })
}) {}
