import * as Effect from "effect/Effect"
import { timestamp } from "../../base/Time.js"
import { Database } from "../Database.js"
import { query } from "../Query.js"
import { IdRow } from "../Rows.js"

/**
 * Counts the use of a thing that is used once. Its id is the key of a rate event, so of two servers one gets it, and whoever
 * is killed afterwards has used it. Maintenance deletes rate events after an hour: the thing must end before.
 */
export const makeUsedOnce = Effect.gen(function* () {
  const { returning } = yield* query
  const { clock, transaction } = yield* Database

  const insert = returning(IdRow)`
    INSERT INTO rate_events (id, kind, subject, created_at) VALUES (${"id"}, ${"kind"}, ${"subject"}, ${"now"})
    ON CONFLICT (id) DO NOTHING RETURNING id`

  /** Returns whether this is the first use. */
  return (kind: string, subject: string, id: string) =>
    transaction(
      Effect.flatMap(clock, (millis) =>
        Effect.map(insert({ id, kind, subject, now: timestamp(millis) }), ({ length }) => length > 0)
      )
    )
})
