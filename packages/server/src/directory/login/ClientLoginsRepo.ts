import { CodeChallenge, MachineName } from "@coffer/domain/directory/ClientLogin"
import { UserId } from "@coffer/domain/base/Ids"
import { Email } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { decidingBy, stateAfter } from "../../access/gate/RequestStates.js"
import { query, sql } from "../../database/Query.js"
import { CountRow, IdRow } from "../../database/Rows.js"
import { hourMillis, makePurge } from "../../database/jobs/Purge.js"

const StateRow = Schema.Struct({
  id: Schema.String,
  kind: Schema.Literal("device", "loopback"),
  state: Schema.Literal("pending", "approved", "refused", "used"),
  user_id: Schema.NullOr(UserId),
  created_at: Schema.String,
  expires_at: Schema.String
})

const PendingRow = Schema.Struct({
  id: Schema.String,
  machine: Schema.NullOr(MachineName),
  ip_address: Schema.NullOr(Schema.String),
  created_at: Schema.String,
  expires_at: Schema.String
})

export type PendingRow = typeof PendingRow.Type

const CandidateRow = Schema.Struct({ ...PendingRow.fields, mac: Schema.Uint8ArrayFromSelf })

const ClaimedRow = Schema.Struct({
  user_id: UserId,
  email: Schema.typeSchema(Email),
  logins_ended: Schema.Number,
  proven_at: Schema.NullOr(Schema.String),
  machine: Schema.NullOr(MachineName),
  challenge: Schema.NullOr(CodeChallenge)
})

const MachineRow = Schema.Struct({ machine: Schema.NullOr(MachineName) })

export const clientLoginPurge = makePurge({ table: "client_logins", lifetime: hourMillis })

/** How often a wrong second half is taken for a code. */
export const maxWrongTries = 5

const may = decidingBy(sql`${"now"}`)

export const clientLoginsRepo = Effect.gen(function* () {
  const { all, first, one, returning, write } = yield* query

  const claim = returning(IdRow)`
    UPDATE client_logins SET state = ${stateAfter("use")} WHERE id = ${"id"} AND ${may("use")} RETURNING id`

  /** No row if it is not pending. */
  const decide = (event: "approve" | "refuse") =>
    returning(MachineRow)`
      UPDATE client_logins SET state = ${stateAfter(event)}, user_id = ${"userId"}, proven_at = ${"provenAt"}
      WHERE id = ${"id"} AND kind = 'device' AND ${may(event)} RETURNING machine`

  const claimed = one(ClaimedRow)`
    SELECT u.id AS user_id, u.email AS email, u.logins_ended AS logins_ended,
      c.proven_at AS proven_at, c.machine AS machine, c.challenge AS challenge
    FROM client_logins c JOIN users u ON u.id = c.user_id WHERE c.id = ${"id"}`

  return {
    countSince: one(CountRow)`
      SELECT count(*) AS count FROM client_logins WHERE created_at > ${"since"} AND state = 'pending'`,

    /** Removes the oldest pending login of the network that has most of them. */
    makeRoom: write`
      DELETE FROM client_logins WHERE id = (
        SELECT id FROM client_logins
        WHERE state = 'pending' AND created_at > ${"since"} AND network = (
          SELECT network FROM client_logins WHERE state = 'pending' AND created_at > ${"since"}
          GROUP BY network ORDER BY count(*) DESC, min(created_at) LIMIT 1)
        ORDER BY created_at, id LIMIT 1)`,

    insertDevice: write`
      INSERT INTO client_logins (id, kind, secret_hash, user_code_start, user_code_mac, machine, ip_address, network,
        state, created_at, expires_at)
      VALUES (${"id"}, 'device', ${"hash"}, ${"start"}, ${"mac"}, ${"machine"}, ${"ip"}, ${"network"},
        'pending', ${"now"}, ${"expiresAt"})`,

    insertLoopback: write`
      INSERT INTO client_logins (id, kind, secret_hash, challenge, redirect_uri, machine, ip_address, user_id, proven_at,
        state, created_at, expires_at)
      VALUES (${"id"}, 'loopback', ${"hash"}, ${"challenge"}, ${"redirectUri"}, ${"machine"}, ${"ip"}, ${"userId"},
        ${"provenAt"}, 'approved', ${"now"}, ${"expiresAt"})`,

    bySecret: first(StateRow)`
      SELECT id, kind, state, user_id, created_at, expires_at FROM client_logins WHERE secret_hash = ${"hash"}`,

    /** The pending device logins whose user code begins with the same half. */
    candidates: all(CandidateRow)`
      SELECT id, user_code_mac AS mac, machine, ip_address, created_at, expires_at FROM client_logins
      WHERE user_code_start = ${"start"} AND state = 'pending' AND user_code_mac IS NOT NULL`,

    pending: first(PendingRow)`
      SELECT id, machine, ip_address, created_at, expires_at FROM client_logins
      WHERE id = ${"id"} AND kind = 'device' AND state = 'pending'`,

    /** Counts a wrong try for each login whose code begins with this half. The last one ends it. */
    countWrongTry: write`
      UPDATE client_logins SET wrong_tries = wrong_tries + 1,
        state = CASE WHEN wrong_tries + 1 >= ${"max"} THEN ${stateAfter("refuse")} ELSE state END
      WHERE user_code_start = ${"start"} AND ${may("refuse")}`,

    /** No row if the last poll was after `before`, or the login is not pending. */
    poll: returning(IdRow)`
      UPDATE client_logins SET last_polled_at = ${"now"}
      WHERE id = ${"id"} AND state = 'pending' AND (last_polled_at IS NULL OR last_polled_at <= ${"before"})
      RETURNING id`,

    approve: decide("approve"),

    refuse: decide("refuse"),

    /** Uses an approved login. Undefined if it is not approved, or another request was first. */
    claim: Effect.fnUntraced(function* (id: string, now: string) {
      return (yield* claim({ id, now })).length === 0 ? undefined : yield* claimed({ id })
    })
  } as const
})
