/** The uploaded keys of federations, one a row: as on SQLite. */
export const federationKeys: ReadonlyArray<string> = [
  `CREATE TABLE federation_keys (
    federation_id TEXT COLLATE "C" NOT NULL REFERENCES federations (id),
    position BIGINT NOT NULL,
    kid TEXT COLLATE "C",
    alg TEXT COLLATE "C",
    jwk TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (federation_id, position)
  )`,
  `CREATE INDEX federation_keys_by_kid ON federation_keys (federation_id, kid)`,
  `INSERT INTO federation_keys (federation_id, position, kid, alg, jwk)
    SELECT id, position, substr(kid, 1, 256),
      CASE WHEN coalesce(purpose, 'sig') = 'sig' AND coalesce(given, alg) = alg AND coalesce(length(kid), 0) <= 256 THEN alg END,
      CASE jwk ->> 'kty'
        WHEN 'RSA' THEN concat('{"e":', jwk -> 'e', ',"kty":"RSA","n":', jwk -> 'n', '}')
        WHEN 'EC' THEN concat('{"crv":', jwk -> 'crv', ',"kty":"EC","x":', jwk -> 'x', ',"y":', jwk -> 'y', '}')
        ELSE concat('{"crv":', jwk -> 'crv', ',"kty":"OKP","x":', jwk -> 'x', '}')
      END
    FROM (
      SELECT f.id AS id, k.position - 1 AS position, k.jwk AS jwk, k.jwk ->> 'use' AS purpose, k.jwk ->> 'alg' AS given,
        CASE json_typeof(k.jwk -> 'kid') WHEN 'string' THEN k.jwk ->> 'kid' END AS kid,
        CASE
          WHEN k.jwk ->> 'kty' = 'RSA' THEN 'RS256'
          WHEN k.jwk ->> 'kty' = 'EC' AND k.jwk ->> 'crv' = 'P-256' THEN 'ES256'
          WHEN k.jwk ->> 'kty' = 'OKP' AND k.jwk ->> 'crv' = 'Ed25519' THEN 'EdDSA'
        END AS alg
      FROM federations f
      CROSS JOIN LATERAL json_array_elements(replace(f.jwks, '\\u', '/')::json -> 'keys') WITH ORDINALITY AS k (jwk, position)
      WHERE f.removed_at IS NULL) keys`,
  `ALTER TABLE federations DROP COLUMN jwks`
]
