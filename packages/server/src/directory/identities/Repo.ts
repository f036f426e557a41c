import { UserId } from "@coffer/domain/base/Ids"
import { Email } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { query } from "../../database/Query.js"
import { IdRow } from "../../database/Rows.js"

const IdentityRow = Schema.Struct({
  id: Schema.String,
  user_id: UserId,
  email: Schema.typeSchema(Email),
  disabled_at: Schema.NullOr(Schema.String),
  logins_ended: Schema.Number
})

export const identitiesRepo = Effect.gen(function* () {
  const { first, returning, write } = yield* query
  return {
    /** The identity with the address that its user has here. */
    find: first(IdentityRow)`
      SELECT i.id AS id, u.id AS user_id, u.email AS email, u.disabled_at AS disabled_at,
        u.logins_ended AS logins_ended
      FROM identities i JOIN users u ON u.id = i.user_id
      WHERE i.issuer = ${"issuer"} AND i.sub = ${"sub"}`,

    ofUser: first(IdRow)`SELECT id FROM identities WHERE issuer = ${"issuer"} AND user_id = ${"userId"}`,

    /** No row if the user has an identity of the issuer, or the identity a user. */
    link: returning(IdRow)`
      INSERT INTO identities (id, issuer, sub, user_id, email, created_at, last_used_at)
      VALUES (${"id"}, ${"issuer"}, ${"sub"}, ${"userId"}, ${"email"}, ${"now"}, ${"now"})
      ON CONFLICT DO NOTHING RETURNING id`,

    touch: write`UPDATE identities SET email = ${"email"}, last_used_at = ${"now"} WHERE id = ${"id"}`
  } as const
})
