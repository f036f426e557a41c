import {
  Email,
  OrgId,
  OrgName,
  ProjectId,
  ProjectName,
  ServiceAccountId,
  ServiceAccountName,
  SessionId,
  UserId
} from "@coffer/domain/Names"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { Reader } from "../database/Reader.js"
import { rowsOf } from "../database/Writer.js"

const SessionActorRow = Schema.Struct({
  session_id: SessionId,
  user_id: UserId,
  email: Schema.typeSchema(Email),
  name: Schema.String,
  superadmin: Schema.Number,
  last_used_at: Schema.String
})

const KeyActorRow = Schema.Struct({
  account_id: ServiceAccountId,
  name: ServiceAccountName,
  org_id: OrgId,
  org_name: OrgName,
  project_id: Schema.NullOr(ProjectId),
  project_name: Schema.NullOr(ProjectName),
  reveal: Schema.Number,
  last_used_at: Schema.NullOr(Schema.String)
})

const SessionRow = Schema.Struct({
  id: SessionId,
  created_at: Schema.String,
  last_used_at: Schema.String,
  ip_address: Schema.NullOr(Schema.String)
})

const CodeRow = Schema.Struct({ id: Schema.String, mac: Schema.Uint8ArrayFromSelf, created_at: Schema.String })
const MomentRow = Schema.Struct({ created_at: Schema.String })
const UserRow = Schema.Struct({ id: UserId, name: Schema.String, disabled_at: Schema.NullOr(Schema.String) })

const sessionActor = `
  SELECT s.id AS session_id, u.id AS user_id, u.email AS email, u.name AS name, u.superadmin AS superadmin,
    s.last_used_at AS last_used_at
  FROM sessions s JOIN users u ON u.id = s.user_id
  WHERE s.token_hash = ? AND s.created_at > ? AND u.disabled_at IS NULL`

// A removed project still scopes its accounts: they reach nothing then, rather than everything.
const keyActor = `
  SELECT a.id AS account_id, a.name AS name, o.id AS org_id, o.name AS org_name, p.id AS project_id,
    p.name AS project_name, a.reveal AS reveal, a.last_used_at AS last_used_at
  FROM api_keys k
  JOIN service_accounts a ON a.id = k.service_account_id AND a.removed_at IS NULL
  JOIN organizations o ON o.id = a.org_id AND o.removed_at IS NULL
  LEFT JOIN projects p ON p.id = a.project_id
  WHERE k.token_hash = ? AND k.removed_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > ?)`

/** The statements of identity: credentials, login codes, failures, sessions and users. */
export class AuthRepo extends Effect.Service<AuthRepo>()("@coffer/server/AuthRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const reader = yield* Reader
    const sessionActors = reader.rowsNow(SessionActorRow)
    const keyActors = reader.rowsNow(KeyActorRow)
    const sessionRows = reader.manyRows(SessionRow)
    const touchUser = (id: UserId, now: string) => sql`UPDATE users SET last_seen_at = ${now} WHERE id = ${id}`

    return {
      /** At once: it is asked for on each request. */
      findSession: (hash: string, bornAfter: string) => sessionActors(sessionActor, [hash, bornAfter])[0],

      /** As `findSession`. */
      findKey: (hash: string, now: string) => keyActors(keyActor, [hash, now])[0],

      /** Notes that a session is used, and its user seen. */
      touchSession: (id: string, userId: UserId, now: string) =>
        sql.withTransaction(
          Effect.zipRight(sql`UPDATE sessions SET last_used_at = ${now} WHERE id = ${id}`, touchUser(userId, now))
        ),

      touchUser,

      touchAccount: (id: string, now: string) =>
        sql`UPDATE service_accounts SET last_used_at = ${now} WHERE id = ${id}`,

      sessionsOf: (userId: UserId, bornAfter: string) =>
        sessionRows(
          `SELECT id, created_at, last_used_at, ip_address FROM sessions
            WHERE user_id = ? AND created_at > ? ORDER BY created_at DESC, id DESC`,
          [userId, bornAfter]
        ),

      insertSession: (row: {
        readonly id: string
        readonly user_id: string
        readonly token_hash: string
        readonly ip_address: string | null
        readonly created_at: string
        readonly last_used_at: string
      }) => sql`INSERT INTO sessions ${sql.insert(row)}`,

      deleteSession: (userId: UserId, id: SessionId) =>
        rowsOf(Schema.Struct({ id: Schema.String }))(
          sql`DELETE FROM sessions WHERE user_id = ${userId} AND id = ${id} RETURNING id`
        ),

      /** Some of a user's sessions, so many at most. */
      deleteSessions: (userId: UserId, limit: number) =>
        rowsOf(Schema.Struct({ id: Schema.String }))(
          sql`DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE user_id = ${userId} LIMIT ${limit})
            RETURNING id`
        ),

      /** Only what lies between two moments counts: a clock that was ahead must not lock anybody for long. */
      requestsBetween: (email: Email, since: string, now: string) =>
        rowsOf(MomentRow)(
          sql`SELECT created_at FROM login_codes
            WHERE email = ${email} AND created_at > ${since} AND created_at <= ${now} ORDER BY created_at`
        ),

      replaceCode: (row: {
        readonly id: string
        readonly email: Email
        readonly mac: Uint8Array
        readonly created_at: string
        readonly expires_at: string
      }) =>
        Effect.zipRight(
          sql`UPDATE login_codes SET state = 'replaced' WHERE email = ${row.email} AND state = 'pending'`,
          sql`INSERT INTO login_codes ${sql.insert({ ...row, state: "pending" })}`
        ),

      /** Takes the pending code away, whatever its age. */
      claimCode: (email: Email) =>
        Effect.map(
          rowsOf(CodeRow)(
            sql`UPDATE login_codes SET state = 'claimed'
              WHERE email = ${email} AND state = 'pending' RETURNING id, mac, created_at`
          ),
          (rows) => rows[0]
        ),

      /** As `requestsBetween`. */
      failuresBetween: (email: Email, since: string, now: string) =>
        rowsOf(MomentRow)(
          sql`SELECT created_at FROM login_failures
            WHERE email = ${email} AND created_at > ${since} AND created_at <= ${now} ORDER BY created_at`
        ),

      insertFailure: (id: string, email: Email, now: string) =>
        sql`INSERT INTO login_failures (id, email, created_at) VALUES (${id}, ${email}, ${now})`,

      deleteFailure: (id: string) => sql`DELETE FROM login_failures WHERE id = ${id}`,

      findUser: (email: Email) =>
        Effect.map(
          rowsOf(UserRow)(sql`SELECT id, name, disabled_at FROM users WHERE email = ${email}`),
          (rows) => rows[0]
        ),

      insertUser: (row: {
        readonly id: UserId
        readonly email: Email
        readonly name: string
        readonly created_at: string
      }) => sql`INSERT INTO users ${sql.insert({ ...row, updated_at: row.created_at })}`,

      setSuperadmins: (emails: ReadonlyArray<Email>, now: string) =>
        Effect.zipRight(
          sql`UPDATE users SET superadmin = 0, updated_at = ${now}
            WHERE superadmin = 1 AND NOT (${sql.in("email", emails)})`,
          sql`UPDATE users SET superadmin = 1, updated_at = ${now}
            WHERE superadmin = 0 AND ${sql.in("email", emails)}`
        )
    } as const
  })
}) {}
