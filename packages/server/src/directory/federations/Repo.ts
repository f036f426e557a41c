import { Conditions } from "@coffer/domain/directory/Federation"
import { FederationId, OrgId, ServiceAccountId } from "@coffer/domain/base/Ids"
import { FederationName, ServiceAccountName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { query, sql } from "../../database/Query.js"
import { CountRow, idRow } from "../../database/Rows.js"
import { hourMillis, makePurge } from "../../database/jobs/Purge.js"

/** No session of a service account lasts longer than an hour. */
export const federatedSessionPurge = makePurge({ table: "federated_sessions", lifetime: hourMillis })

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

const KeyRow = Schema.Struct({ jwk: Schema.String })
const ArchivedKeyRow = Schema.Struct({
  kid: Schema.NullOr(Schema.String),
  alg: Schema.NullOr(Schema.String),
  jwk: Schema.String
})
const AudienceRow = Schema.Struct({ id: FederationId, account: ServiceAccountName, audience: Schema.String })
const KeyIdRow = Schema.Struct({ kid: Schema.NullOr(Schema.String) })

const decodeConditions = Schema.decode(Schema.parseJson(Conditions))

export const conditionsOf = ({ conditions }: FederationRow): Effect.Effect<Conditions> =>
  Effect.orDie(decodeConditions(conditions))

const AccountRow = Schema.Struct({
  id: ServiceAccountId,
  name: ServiceAccountName,
  org_id: OrgId,
  allowed_networks: Schema.NullOr(Schema.String)
})
export type AccountRow = typeof AccountRow.Type

const federations = sql`
  SELECT id, name, issuer, audience, 
    CASE WHEN EXISTS (SELECT 1 FROM federation_keys k WHERE k.federation_id = federations.id) THEN 1 ELSE 0 END AS has_keys,
    conditions, max_age, ttl, expires_at, created_by, created_at, last_used_at
  FROM federations WHERE service_account_id = ${"accountId"} AND removed_at IS NULL`

/** Federations that have not expired. */
const ofIssuer = sql`issuer = ${"issuer"} AND (expires_at IS NULL OR expires_at > ${"now"})`

/** The uploaded keys of an account for the tokens of an issuer with an algorithm. */
const keys = sql`
  SELECT k.jwk AS jwk FROM federations
  JOIN federation_keys k ON k.federation_id = federations.id AND k.alg = ${"alg"}
  WHERE service_account_id = ${"accountId"} AND removed_at IS NULL AND ${ofIssuer}`

const accounts = sql`
  SELECT a.id AS id, a.name AS name, a.org_id AS org_id, a.allowed_networks AS allowed_networks FROM service_accounts a
  JOIN organizations o ON o.id = a.org_id AND o.removed_at IS NULL
  LEFT JOIN projects p ON p.id = a.project_id
  WHERE a.removed_at IS NULL AND p.removed_at IS NULL`

export const federationsRepo = Effect.gen(function* () {
  const { all, first, insert, one, returning, write } = yield* query

  return {
    findAccount: first(AccountRow)`${accounts} AND a.org_id = ${"orgId"} AND a.id = ${"id"}`,
    accountByName: first(AccountRow)`${accounts} AND o.name = ${"org"} AND a.name = ${"name"}`,

    /** The federations of an account, sorted by name. */
    all: all(FederationRow)`${federations} ORDER BY name`,

    find: first(FederationRow)`${federations} AND id = ${"id"}`,

    findNamed: first(FederationRow)`${federations} AND name = ${"name"}`,

    /**
     * The different keys that a token may be signed with, two at most, and from 20 rows at most: strangers ask for them. 20
     * are one for each federation of an account.
     */
    keysNamed: all(KeyRow)`
      SELECT DISTINCT jwk FROM (${keys} AND k.kid = ${"kid"} LIMIT 20) candidates LIMIT 2`,

    /** The same for a token that does not name its key. */
    keysUnnamed: all(KeyRow)`SELECT DISTINCT jwk FROM (${keys} LIMIT 20) candidates LIMIT 2`,

    /** The federations that take tokens of an issuer now, those with keys of their own only if they have the given one. */
    ofKey: all(FederationRow)`
      ${federations} AND ${ofIssuer} AND (
        NOT EXISTS (SELECT 1 FROM federation_keys k WHERE k.federation_id = federations.id)
        OR EXISTS (SELECT 1 FROM federation_keys k
          WHERE k.federation_id = federations.id AND k.alg = ${"alg"} AND k.jwk = ${"jwk"}))
      ORDER BY name`,

    keyIdsOf: all(KeyIdRow)`SELECT kid FROM federation_keys WHERE federation_id = ${"id"} ORDER BY position`,

    insertKeys: insert("federation_keys", ["federation_id", "position", "kid", "alg", "jwk"]),

    /** A key of a federation whose id another key of the account's federations with the issuer has. */
    keysFor: all(ArchivedKeyRow)`
      SELECT k.kid AS kid, k.alg AS alg, k.jwk AS jwk FROM federations
      JOIN federation_keys k ON k.federation_id = federations.id
      WHERE service_account_id = ${"accountId"} AND removed_at IS NULL AND ${ofIssuer}`,

    count: one(CountRow)`
      SELECT count(*) AS count FROM federations WHERE service_account_id = ${"accountId"} AND removed_at IS NULL`,

    insert: insert("federations", [
      ...["id", "service_account_id", "org_id", "name", "issuer", "audience", "conditions", "max_age", "ttl"],
      ...["expires_at", "created_by", "created_at"]
    ]),

    /** The keys of a federation as archives have them. */
    keysOf: all(ArchivedKeyRow)`
      SELECT kid, alg, jwk FROM federation_keys WHERE federation_id = ${"id"} ORDER BY position`,

    /** The federations after one, whose tokens name the organization as it was called when they were written. */
    audiences: all(AudienceRow)`
      SELECT f.id AS id, a.name AS account, f.audience AS audience FROM federations f
      JOIN service_accounts a ON a.id = f.service_account_id
      WHERE f.org_id = ${"orgId"} AND f.id > ${"after"} ORDER BY f.id LIMIT ${"limit"}`,

    setAudience: write`UPDATE federations SET audience = ${"audience"} WHERE id = ${"id"}`,

    remove: write`UPDATE federations SET removed_at = ${"now"} WHERE id = ${"id"}`,

    /** Records a sign-in. No row if the federation, its account, the project of that or the organization was removed. */
    use: returning(idRow(FederationId))`
      UPDATE federations SET last_used_at = ${"now"}
      WHERE id = ${"id"} AND removed_at IS NULL AND EXISTS (
        SELECT 1 FROM service_accounts a
        JOIN organizations o ON o.id = a.org_id AND o.removed_at IS NULL
        LEFT JOIN projects p ON p.id = a.project_id
        WHERE a.id = federations.service_account_id AND a.removed_at IS NULL AND p.removed_at IS NULL)
      RETURNING id`,

    insertSession: write`
      INSERT INTO federated_sessions
        (id, federation_id, service_account_id, token_hash, subject, ip_address, created_at, expires_at)
      VALUES (${"id"}, ${"federationId"}, ${"accountId"}, ${"hash"}, ${"subject"}, ${"ip"}, ${"now"}, ${"expiresAt"})`
  } as const
})
