import * as Schema from "effect/Schema"
import { sql } from "../../database/Query.js"

/** 1 if the current version of a secret is its highest stored version. Only tampering with the file makes it 0. */
export const Newest = Schema.Literal(0, 1)

/** The encrypted columns of a version; null if the version does not exist or was destroyed. */
export const sealedFields = {
  format: Schema.Number,
  kek_id: Schema.String,
  wrapped_key: Schema.NullOr(Schema.Uint8ArrayFromSelf),
  ciphertext: Schema.NullOr(Schema.Uint8ArrayFromSelf)
}

export const sealedColumns = sql`coalesce(v.format, 0) AS format, coalesce(v.kek_id, '') AS kek_id,
  v.wrapped_key AS wrapped_key, v.ciphertext AS ciphertext`

const isNewest = sql`s.version = (SELECT max(n.version) FROM secret_versions n WHERE n.secret_id = s.id)`

/** The `newest` column of secret `s`, for statements that do not join its version. */
export const newestColumn = sql`CASE WHEN ${isNewest} THEN 1 ELSE 0 END AS newest`

/** Joins the current version `v` of each secret `s`; `v` is null if that is not the newest version. */
export const newestVersion = sql`
  LEFT JOIN secret_versions v ON v.secret_id = s.id AND v.version = s.version AND ${isNewest}`

/** Columns of secret `s` joined with `newestVersion`. */
export const versionColumns = sql`s.id AS id, s.version AS version,
  CASE WHEN v.version IS NULL THEN 0 ELSE 1 END AS newest, coalesce(v.value_bytes, 0) AS value_bytes`
