import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/**
 * The uploaded keys of federations, one a row, so that a token's exchange reads only the key that it names. `alg` is null for
 * keys that verify no tokens. `jwk` has only the members of the key's thumbprint (RFC 7638), so equal keys are equal text.
 * Escaped characters cannot be stored on PostgreSQL, and no token may have them in `kid`.
 */
const statements = [
  `CREATE TABLE federation_keys (
    federation_id TEXT NOT NULL REFERENCES federations (id),
    position INTEGER NOT NULL,
    kid TEXT,
    alg TEXT,
    jwk TEXT NOT NULL,
    PRIMARY KEY (federation_id, position)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX federation_keys_by_kid ON federation_keys (federation_id, kid)`,
  `INSERT INTO federation_keys (federation_id, position, kid, alg, jwk)
    SELECT id, position, substr(kid, 1, 256),
      CASE WHEN coalesce(purpose, 'sig') = 'sig' AND coalesce(given, alg) = alg AND coalesce(length(kid), 0) <= 256 THEN alg END,
      CASE jwk ->> '$.kty'
        WHEN 'RSA' THEN json_object('e', jwk ->> '$.e', 'kty', 'RSA', 'n', jwk ->> '$.n')
        WHEN 'EC' THEN json_object('crv', jwk ->> '$.crv', 'kty', 'EC', 'x', jwk ->> '$.x', 'y', jwk ->> '$.y')
        ELSE json_object('crv', jwk ->> '$.crv', 'kty', 'OKP', 'x', jwk ->> '$.x')
      END
    FROM (
      SELECT f.id AS id, k.key AS position, k.value AS jwk, k.value ->> '$.use' AS purpose, k.value ->> '$.alg' AS given,
        CASE json_type(k.value, '$.kid') WHEN 'text' THEN k.value ->> '$.kid' END AS kid,
        CASE
          WHEN k.value ->> '$.kty' = 'RSA' THEN 'RS256'
          WHEN k.value ->> '$.kty' = 'EC' AND k.value ->> '$.crv' = 'P-256' THEN 'ES256'
          WHEN k.value ->> '$.kty' = 'OKP' AND k.value ->> '$.crv' = 'Ed25519' THEN 'EdDSA'
        END AS alg
      FROM federations f JOIN json_each(replace(f.jwks, '\\u', '/'), '$.keys') k
      WHERE f.removed_at IS NULL) keys`,
  `ALTER TABLE federations DROP COLUMN jwks`
]

export const federationKeys = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
