import { randomBytes } from "node:crypto"
import * as Effect from "effect/Effect"
import { mayEnd, stateAfter } from "../../access/gate/RequestStates.js"
import { query, sql } from "../../database/Query.js"
import { IdRow } from "../../database/Rows.js"

const revoked = sql`state = ${stateAfter("revoke")} WHERE ${mayEnd("revoke")}`

/**
 * Ends all sessions, of machines too, all delegations, exports, groups that logins brought, leases, pending logins and requests that people
 * approved or have yet to, and starts a new epoch, which invalidates all ETags. Call in the transaction that makes a copy of a
 * database the live one. Returns how many were ended.
 */
export const beginEpoch = Effect.gen(function* () {
  const { returning, write } = yield* query
  const endSessions = returning(IdRow)`DELETE FROM sessions RETURNING id`
  const endDelegations = returning(IdRow)`DELETE FROM delegations RETURNING id`
  const endGroups = write`DELETE FROM login_groups`
  const endProviderGroups = write`DELETE FROM provider_groups`
  const endGroupLogins = write`DELETE FROM group_logins`
  const endExports = write`DELETE FROM exports`
  const endCodes = returning(IdRow)`UPDATE login_codes SET state = 'replaced' WHERE state = 'pending' RETURNING id`
  const endClientLogins = write`UPDATE client_logins SET ${revoked}`
  const endKeySessions = returning(IdRow)`DELETE FROM key_sessions RETURNING id`
  const endFederatedSessions = returning(IdRow)`DELETE FROM federated_sessions RETURNING id`
  const endApprovals = write`UPDATE approvals SET ${revoked}`
  const endRequests = write`
    UPDATE requests SET state = ${stateAfter("expire")}, bytes = 0 WHERE ${mayEnd("expire")}`
  const forgetParts = write`DELETE FROM request_parts`
  const forgetKeys = write`DELETE FROM wrapped_keys WHERE name LIKE 'request/%'`
  // The users of a copied database's leases are another server's to remove, or end by themselves.
  const endLeases = write`DELETE FROM leases`
  const forgetLeases = write`DELETE FROM wrapped_keys WHERE name LIKE 'lease/%'`
  // A copy of a running server's database is not what that server left when it was killed.
  const forgetServers = write`DELETE FROM instances`
  const setEpoch = write`UPDATE instance SET epoch = ${"epoch"}`
  const sessions = [...(yield* endSessions({})), ...(yield* endDelegations({}))]
  yield* endGroups({})
  yield* endProviderGroups({})
  yield* endGroupLogins({})
  yield* endExports({})
  const codes = yield* endCodes({})
  yield* endClientLogins({})
  const machines = [...(yield* endKeySessions({})), ...(yield* endFederatedSessions({}))]
  yield* endApprovals({})
  yield* endRequests({})
  yield* forgetParts({})
  yield* forgetKeys({})
  yield* endLeases({})
  yield* forgetLeases({})
  yield* forgetServers({})
  yield* setEpoch({ epoch: randomBytes(8).toString("hex") })
  return { sessions: sessions.length + machines.length, codes: codes.length }
})
