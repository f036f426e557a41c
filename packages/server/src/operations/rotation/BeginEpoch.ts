import { randomBytes } from "node:crypto"
import { Effect, Schema } from "effect"
import { query } from "../../database/Query.js"

const IdRow = Schema.Struct({ id: Schema.String })

/**
 * Ends all sessions and pending logins, and starts a new epoch, which invalidates all ETags. Call in the transaction that
 * makes a copy of a database the live one. Returns how many were ended.
 */
export const beginEpoch = Effect.gen(function* () {
  const { returning, write } = yield* query
  const endSessions = returning(IdRow)`DELETE FROM sessions RETURNING id`
  const endCodes = returning(IdRow)`UPDATE login_codes SET state = 'replaced' WHERE state = 'pending' RETURNING id`
  const endClientLogins = write`UPDATE client_logins SET state = 'refused' WHERE state IN ('pending', 'approved')`
  const setEpoch = write`UPDATE instance SET epoch = ${"epoch"}`
  const sessions = yield* endSessions({})
  const codes = yield* endCodes({})
  yield* endClientLogins({})
  yield* setEpoch({ epoch: randomBytes(8).toString("hex") })
  return { sessions: sessions.length, codes: codes.length }
})
