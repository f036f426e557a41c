import { Conditions } from "@coffer/domain/Federation"
import { FederationId, OrgId, ServiceAccountId } from "@coffer/domain/Ids"
import { FederationName, ServiceAccountName } from "@coffer/domain/Names"
import { Effect, Schema } from "effect"
import { query, sql } from "../../database/Query.js"

const FederationRow = Schema.Struct({
  id: FederationId,
  name: FederationName,
  issuer: Schema.String,
  audience: Schema.String,
  /** Whether it has keys of its own. */
  has_keys: Schema.Literal(0, 1),
  conditions: Schema.String,
  max_age: Schema.Number,
  ttl: Schema.Number,
  expires_at: Schema.NullOr(Schema.String),
  created_by: Schema.String,
  created_at: Schema.String,
  last_used_at: Schema.NullOr(Schema.String)
})
export type FederationRow = typeof FederationRow.Type

const KeysRow = Schema.Struct({ jwks: Schema.NullOr(Schema.String) })

const decodeConditions = Schema.decode(Schema.parseJson(Conditions))

export const conditionsOf = ({ conditions }: FederationRow): Effect.Effect<Conditions> =>
  Effect.orDie(decodeConditions(conditions))

const AccountRow = Schema.Struct({ id: ServiceAccountId, name: ServiceAccountName, org_id: OrgId })
export type AccountRow = typeof AccountRow.Type

const IdRow = Schema.Struct({ id: FederationId })
const CountRow = Schema.Struct({ count: Schema.Number })

const federations = sql`
  SELECT id, name, issuer, audience, CASE WHEN jwks IS NULL THEN 0 ELSE 1 END AS has_keys, conditions, max_age, ttl, expires_at, created_by, created_at, last_used_at
  FROM federations WHERE service_account_id = ${"accountId"} AND removed_at IS NULL`

const accounts = sql`
  SELECT a.id AS id, a.name AS name, a.org_id AS org_id FROM service_accounts a
  JOIN organizations o ON o.id = a.org_id AND o.removed_at IS NULL
  WHERE a.removed_at IS NULL`

export class FederationsRepo extends Effect.Service<FederationsRepo>()("@coffer/server/FederationsRepo", {
  effect: Effect.gen(function* () {
    const { all, first, one, returning, write } = yield* query

    return {
      findAccount: first(AccountRow)`${accounts} AND a.org_id = ${"orgId"} AND a.id = ${"id"}`,
      accountByName: first(AccountRow)`${accounts} AND o.name = ${"org"} AND a.name = ${"name"}`,

      /** The federations of an account, sorted by name. */
      all: all(FederationRow)`${federations} ORDER BY name`,

      find: first(FederationRow)`${federations} AND id = ${"id"}`,

      findNamed: first(FederationRow)`${federations} AND name = ${"name"}`,

      /** The federations of an account that take tokens of an issuer now. */
      ofIssuer: all(FederationRow)`
        ${federations} AND issuer = ${"issuer"} AND (expires_at IS NULL OR expires_at > ${"now"}) ORDER BY name`,

      /** The keys of a federation, which never change. */
      keysOf: first(KeysRow)`SELECT jwks FROM federations WHERE id = ${"id"}`,

      count: one(CountRow)`
        SELECT count(*) AS count FROM federations WHERE service_account_id = ${"accountId"} AND removed_at IS NULL`,

      insert: write`
        INSERT INTO federations (id, service_account_id, org_id, name, issuer, audience, jwks, conditions, max_age, ttl,
          expires_at, created_by, created_at)
        VALUES (${"id"}, ${"accountId"}, ${"orgId"}, ${"name"}, ${"issuer"}, ${"audience"}, ${"jwks"}, ${"conditions"},
          ${"maxAge"}, ${"ttl"}, ${"expiresAt"}, ${"createdBy"}, ${"now"})`,

      remove: write`UPDATE federations SET removed_at = ${"now"} WHERE id = ${"id"}`,

      /** Records a sign-in. No row if the federation, its account or the organization was removed. */
      use: returning(IdRow)`
        UPDATE federations SET last_used_at = ${"now"}
        WHERE id = ${"id"} AND removed_at IS NULL AND EXISTS (
          SELECT 1 FROM service_accounts a
          JOIN organizations o ON o.id = a.org_id AND o.removed_at IS NULL
          WHERE a.id = federations.service_account_id AND a.removed_at IS NULL)
        RETURNING id`,

      insertSession: write`
        INSERT INTO federated_sessions
          (id, federation_id, service_account_id, token_hash, subject, ip_address, created_at, expires_at)
        VALUES (${"id"}, ${"federationId"}, ${"accountId"}, ${"hash"}, ${"subject"}, ${"ip"}, ${"now"}, ${"expiresAt"})`
    } as const
  })
}) {}
