import { SessionId, UserId } from "@coffer/domain/base/Ids"
import { Email } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { allPages } from "../../../database/Pages.js"
import { query, sql } from "../../../database/Query.js"
import { endedAtOnce } from "../../../database/InSteps.js"
import { unlessLocked } from "../../../database/UnlessLocked.js"
import { stateAfter } from "../../gate/RequestStates.js"
import { liveSession } from "../ActorRepo.js"
import { idleMillis, type SessionLimits, sessionMillis } from "../SessionLimits.js"
import { IdRow } from "../../../database/Rows.js"
import { hourMillis, makePurge } from "../../../database/jobs/Purge.js"

const SessionRow = Schema.Struct({
  id: SessionId,
  created_at: Schema.String,
  last_used_at: Schema.String,
  ip_address: Schema.NullOr(Schema.String),
  kind: Schema.Literal("token", "cookie"),
  program: Schema.NullOr(Schema.String),
  machine: Schema.NullOr(Schema.String),
  user_agent: Schema.NullOr(Schema.String),
  passkey_at: Schema.NullOr(Schema.String)
})

export type SessionRow = typeof SessionRow.Type

const CodeRow = Schema.Struct({ id: Schema.String, mac: Schema.Uint8ArrayFromSelf, created_at: Schema.String })
const EmailRow = Schema.Struct({ email: Schema.typeSchema(Email) })
const MomentRow = Schema.Struct({ created_at: Schema.String })
const UserRow = Schema.Struct({
  id: UserId,
  name: Schema.String,
  disabled_at: Schema.NullOr(Schema.String),
  logins_ended: Schema.Number
})

export const sessionPurge = makePurge({ table: "sessions", lifetime: sessionMillis })

export const idleSessionPurge = makePurge({
  table: "sessions",
  lifetime: idleMillis,
  ended: sql`kind = 'cookie' AND last_used_at <= ${"until"}`
})

/** The limits on requests and attempts look back for an hour. */
export const codePurge = makePurge({ table: "login_codes", lifetime: hourMillis })
export const failurePurge = makePurge({ table: "login_failures", lifetime: hourMillis })

export const authRepo = Effect.gen(function* () {
  const { all, first, returning, write } = yield* query
  const unlocked = yield* unlessLocked
  const pages = yield* allPages

  const sessionPage = all(SessionRow)`
    SELECT s.id AS id, s.created_at AS created_at, s.last_used_at AS last_used_at, s.ip_address AS ip_address,
      s.kind AS kind, s.program AS program, s.machine AS machine, s.user_agent AS user_agent,
      CASE WHEN s.proven_by = 'passkey' THEN s.proven_at END AS passkey_at
    FROM sessions s
    WHERE s.user_id = ${"userId"} AND ${liveSession} AND (s.created_at, s.id) < (${"before"}, ${"beforeId"})
    ORDER BY s.created_at DESC, s.id DESC LIMIT ${"limit"}`

  const deleteSome = returning(IdRow)`
    DELETE FROM sessions
    WHERE id IN (SELECT id FROM sessions WHERE user_id = ${"userId"} AND id <> ${"kept"} LIMIT ${"limit"})
    RETURNING id`

  const claimedCodes = returning(CodeRow)`
    UPDATE login_codes SET state = 'claimed'
    WHERE email = ${"email"} AND state = 'pending' RETURNING id, mac, created_at`

  const clearSuperadmin = write`
    UPDATE users SET superadmin = 0, updated_at = ${"now"} WHERE email = ${"email"}`

  const setSuperadmin = write`
    UPDATE users SET superadmin = 1, updated_at = ${"now"} WHERE email = ${"email"}`

  const superadmins = all(EmailRow)`SELECT email FROM users WHERE superadmin = 1`

  const replacePending = write`
    UPDATE login_codes SET state = 'replaced' WHERE email = ${"email"} AND state = 'pending'`

  const endClientLogins = write`
    UPDATE client_logins SET state = ${stateAfter("revoke")} WHERE user_id = ${"id"} AND state = 'approved'`

  const deleteDelegations = write`DELETE FROM delegations WHERE user_id = ${"id"}`

  const countEnded = write`UPDATE users SET logins_ended = logins_ended + 1 WHERE id = ${"id"}`

  const insertCode = write`
    INSERT INTO login_codes (id, email, mac, state, created_at, expires_at)
    VALUES (${"id"}, ${"email"}, ${"mac"}, 'pending', ${"now"}, ${"expiresAt"})`

  return {
    touchSession: write`
      UPDATE sessions SET last_used_at = ${"now"}, ip_address = COALESCE(${"ip"}, ip_address)
      WHERE id = (SELECT id FROM sessions WHERE id = ${"id"} ${unlocked})`,
    touchUser: write`
      UPDATE users SET last_seen_at = ${"now"} WHERE id = (SELECT id FROM users WHERE id = ${"id"} ${unlocked})`,
    touchDelegation: write`
      UPDATE delegations SET last_used_at = ${"now"}
      WHERE id = (SELECT id FROM delegations WHERE id = ${"id"} ${unlocked})`,
    touchAccount: write`
      UPDATE service_accounts SET last_used_at = ${"now"}
      WHERE id = (SELECT id FROM service_accounts WHERE id = ${"id"} ${unlocked})`,

    /** A user's live sessions, newest first. */
    sessionsOf: (userId: UserId, limits: SessionLimits) =>
      pages(
        // `~` sorts after every timestamp.
        { before: "~", beforeId: "" },
        (cursor, limit) => sessionPage({ userId, ...limits, ...cursor, limit }),
        ({ created_at, id }) => ({ before: created_at, beforeId: id })
      ),

    /**
     * Locks a user for the transaction. No row if the user is disabled, or all logins were ended since: the lock keeps both
     * from happening until the transaction ends.
     */
    holdUser: returning(IdRow)`
      UPDATE users SET last_seen_at = ${"now"}
      WHERE id = ${"id"} AND logins_ended = ${"ended"} AND disabled_at IS NULL RETURNING id`,

    insertSession: write`
      INSERT INTO sessions (id, user_id, kind, token_hash, ip_address, program, machine, user_agent, proven_at, proven_by,
        created_at, last_used_at)
      VALUES (${"id"}, ${"userId"}, ${"kind"}, ${"hash"}, ${"ip"}, ${"program"}, ${"machine"}, ${"userAgent"},
        ${"provenAt"}, ${"provenBy"}, ${"now"}, ${"now"})`,

    deleteSession: returning(IdRow)`
      DELETE FROM sessions WHERE user_id = ${"userId"} AND id = ${"id"} RETURNING id`,

    /** Deletes some of a user's sessions, but not the one to keep. Returns them, and whether there may be more. */
    deleteSessions: (userId: UserId, kept: SessionId | null = null) =>
      Effect.map(deleteSome({ userId, kept: kept ?? "", limit: endedAtOnce }), (ended) => ({
        ended,
        hasMore: ended.length === endedAtOnce
      })),

    deleteFederated: returning(IdRow)`DELETE FROM federated_sessions WHERE id = ${"id"} RETURNING id`,

    deleteKeySession: returning(IdRow)`DELETE FROM key_sessions WHERE id = ${"id"} RETURNING id`,

    /** The upper bound ignores rows from a clock that was ahead: they would lock the address for too long. */
    requestsBetween: all(MomentRow)`
      SELECT created_at FROM login_codes
      WHERE email = ${"email"} AND created_at > ${"since"} AND created_at <= ${"now"} ORDER BY created_at`,

    replaceCode: (row: {
      readonly id: string
      readonly email: Email
      readonly mac: Uint8Array
      readonly now: string
      readonly expiresAt: string
    }) => Effect.zipRight(replacePending({ email: row.email }), insertCode(row)),

    /** Claims the pending code at any age. */
    claimCode: (email: Email) => Effect.map(claimedCodes({ email }), (rows) => rows[0]),

    /**
     * Ends what could start another session: pages on which a login of a program can be approved, the pending code, and
     * approved logins; and the delegations, which a session made. The user's row comes first: an approval locks it too.
     */
    endPendingLogins: ({ email, id }: { readonly email: Email; readonly id: UserId }) =>
      countEnded({ id }).pipe(
        Effect.zipRight(claimedCodes({ email })),
        Effect.zipRight(endClientLogins({ id })),
        Effect.zipRight(deleteDelegations({ id }))
      ),

    /** As `requestsBetween`. */
    failuresBetween: all(MomentRow)`
      SELECT created_at FROM login_failures
      WHERE email = ${"email"} AND created_at > ${"since"} AND created_at <= ${"now"} ORDER BY created_at`,

    insertFailure: write`
      INSERT INTO login_failures (id, email, created_at) VALUES (${"id"}, ${"email"}, ${"now"})`,

    deleteFailure: write`DELETE FROM login_failures WHERE id = ${"id"}`,

    findUser: first(UserRow)`SELECT id, name, disabled_at, logins_ended FROM users WHERE email = ${"email"}`,

    /** No row if there is a user with the address. */
    insertUser: returning(UserRow)`
      INSERT INTO users (id, email, name, created_at, updated_at)
      VALUES (${"id"}, ${"email"}, ${"name"}, ${"now"}, ${"now"})
      ON CONFLICT (email) DO NOTHING RETURNING id, name, disabled_at, logins_ended`,

    /** Makes exactly the users with these addresses superadmins. */
    setSuperadmins: (emails: ReadonlyArray<Email>, now: string) =>
      Effect.gen(function* () {
        const wanted = new Set(emails)
        for (const { email } of yield* superadmins({})) {
          if (!wanted.delete(email)) yield* clearSuperadmin({ email, now })
        }
        for (const email of wanted) yield* setSuperadmin({ email, now })
      })
  } as const
})

export type AuthRepo = Effect.Effect.Success<typeof authRepo>
