import { PasskeyId, SessionId } from "@coffer/domain/base/Ids"
import { OrgName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { liveSession } from "../../access/caller/ActorRepo.js"
import { acceptedMember } from "../../access/place/PlaceRow.js"
import { query } from "../../database/Query.js"
import { IdRow } from "../../database/Rows.js"
import { hourMillis, makePurge } from "../../database/jobs/Purge.js"

export const challengePurge = makePurge({ table: "passkey_challenges", lifetime: hourMillis })

const PasskeyRow = Schema.Struct({
  id: PasskeyId,
  name: Schema.String,
  credential_id: Schema.String,
  public_key: Schema.Uint8ArrayFromSelf,
  transports: Schema.String,
  created_at: Schema.String,
  last_used_at: Schema.NullOr(Schema.String)
})
export type PasskeyRow = typeof PasskeyRow.Type

const ChallengeRow = Schema.Struct({
  id: Schema.String,
  target_id: SessionId,
  created_at: Schema.String,
  expires_at: Schema.String
})

const NameRow = Schema.Struct({ name: Schema.String })
const OrgRow = Schema.Struct({ name: OrgName })

/** How many challenges of a session wait. */
const maxChallenges = 5

export const passkeysRepo = Effect.map(query, ({ all, first, returning, write }) => {
  const trimChallenges = write`
    DELETE FROM passkey_challenges WHERE session_id = ${"sessionId"} AND id NOT IN (
      SELECT id FROM passkey_challenges WHERE session_id = ${"sessionId"} ORDER BY created_at DESC, id DESC
      LIMIT ${"kept"})`

  const insertChallenge = write`
    INSERT INTO passkey_challenges (id, session_id, purpose, target_id, created_at, expires_at)
    VALUES (${"id"}, ${"sessionId"}, ${"purpose"}, ${"targetId"}, ${"now"}, ${"expiresAt"})`

  return {
    ofUser: all(PasskeyRow)`
      SELECT id, name, credential_id, public_key, transports, created_at, last_used_at FROM passkeys
      WHERE user_id = ${"userId"} ORDER BY created_at, id`,

    insert: write`
      INSERT INTO passkeys (id, user_id, name, credential_id, public_key, counter, transports, created_at)
      VALUES (${"id"}, ${"userId"}, ${"name"}, ${"credentialId"}, ${"publicKey"}, ${"counter"}, ${"transports"}, ${"now"})`,

    remove: returning(NameRow)`
      DELETE FROM passkeys WHERE id = ${"id"} AND user_id = ${"userId"} RETURNING name`,

    removeAll: returning(IdRow)`DELETE FROM passkeys WHERE user_id = ${"userId"} RETURNING id`,

    /** No row if the counter went back, or the passkey was removed. An authenticator without a counter says 0, always. */
    use: returning(NameRow)`
      UPDATE passkeys SET counter = ${"counter"}, last_used_at = ${"now"}
      WHERE id = ${"id"} AND user_id = ${"userId"} AND (counter < ${"counter"} OR counter + ${"counter"} = 0)
      RETURNING name`,

    /** An organization that lets nobody recover by a login, and whose membership the person has accepted. */
    forbidsRecovery: first(OrgRow)`
      SELECT o.name AS name FROM members m JOIN organizations o ON o.id = m.org_id AND o.removed_at IS NULL
      WHERE m.user_id = ${"userId"} AND ${acceptedMember} AND o.passkey_recovery = 'none'
      ORDER BY o.name LIMIT 1`,

    /** A session of a program of the person's. */
    program: first(IdRow)`
      SELECT s.id AS id FROM sessions s
      WHERE s.id = ${"id"} AND s.user_id = ${"userId"} AND s.kind = 'token' AND ${liveSession}`,

    /** Drops the oldest of the session's challenges, if there are too many. */
    insertChallenge: (row: Parameters<typeof insertChallenge>[0]) =>
      Effect.zipRight(trimChallenges({ sessionId: row.sessionId, kept: maxChallenges - 1 }), insertChallenge(row)),

    /** Takes a challenge away, at any age: of two requests with it, one gets it. */
    claimChallenge: returning(ChallengeRow)`
      DELETE FROM passkey_challenges
      WHERE id = ${"id"} AND session_id = ${"sessionId"} AND purpose = ${"purpose"}
      RETURNING id, target_id, created_at, expires_at`,

    /** No row if the session has ended. */
    proveSession: returning(IdRow)`
      UPDATE sessions SET proven_at = ${"now"}, proven_by = 'passkey'
      WHERE id = ${"id"} AND user_id = ${"userId"} RETURNING id`
  } as const
})
