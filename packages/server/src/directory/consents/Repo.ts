import { CodeChallenge } from "@coffer/domain/directory/ClientLogin"
import { DelegationId, OrgId, UserId } from "@coffer/domain/base/Ids"
import { Email } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { databaseTime, query, sql } from "../../database/Query.js"
import { idRow } from "../../database/Rows.js"

const ConsentRow = Schema.Struct({
  delegation_id: DelegationId,
  user_id: UserId,
  email: Schema.typeSchema(Email),
  org_id: OrgId,
  name: Schema.String,
  permission: Schema.String,
  reveal: Schema.Number,
  client_hash: Schema.String,
  redirect_uri: Schema.String,
  challenge: CodeChallenge,
  ends_at: Schema.Number,
  used_at: Schema.NullOr(Schema.Number)
})
export type ConsentRow = typeof ConsentRow.Type

export const consentsRepo = Effect.map(query, ({ first, returning, write }) => {
  const consent = sql`
    SELECT c.delegation_id AS delegation_id, u.id AS user_id, u.email AS email, d.org_id AS org_id, d.name AS name,
      d.permission AS permission, d.reveal AS reveal, c.client_hash AS client_hash, c.redirect_uri AS redirect_uri,
      c.challenge AS challenge, c.ends_at AS ends_at, c.used_at AS used_at
    FROM consents c JOIN delegations d ON d.id = c.delegation_id JOIN users u ON u.id = d.user_id
    WHERE u.disabled_at IS NULL`

  return {
    byCode: first(ConsentRow)`${consent} AND c.code_hash = ${"hash"}`,

    byToken: first(ConsentRow)`${consent} AND d.token_hash = ${"hash"}`,

    insert: write`
      INSERT INTO consents (delegation_id, client_hash, client_name, client_host, redirect_uri, challenge, code_hash,
        code_expires_at, ends_at)
      VALUES (${"id"}, ${"client"}, ${"name"}, ${"host"}, ${"redirectUri"}, ${"challenge"}, ${"hash"}, ${"codeEnd"}, ${"endsAt"})`,

    /** A delegation without a token yet lasts as long as its code. */
    wait: write`UPDATE delegations SET expires_at = ${"codeEnd"} WHERE id = ${"id"}`,

    /** Uses a code. No row if it was used or has expired. */
    use: returning(Schema.Struct({ delegation_id: DelegationId }))`
      UPDATE consents SET used_at = ${databaseTime}
      WHERE delegation_id = ${"id"} AND used_at IS NULL AND code_expires_at > ${databaseTime}
      RETURNING delegation_id`,

    begin: write`UPDATE delegations SET token_hash = ${"hash"}, expires_at = ${"endsAt"} WHERE id = ${"id"}`,

    forget: write`DELETE FROM consents WHERE delegation_id = ${"id"}`,

    end: returning(idRow(DelegationId))`DELETE FROM delegations WHERE id = ${"id"} RETURNING id`
  } as const
})
