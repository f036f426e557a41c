import { Schema } from "effect"
import { sql } from "../database/Query.js"

/** Whether the version of a secret is the highest that is stored. Only an edit of the file makes it another one. */
export const Newest = Schema.Literal(0, 1)

/** What a version sealed, and how. Null where there is no version, or where it was destroyed. */
export const sealedFields = {
  format: Schema.Number,
  kek_id: Schema.String,
  wrapped_key: Schema.NullOr(Schema.Uint8ArrayFromSelf),
  ciphertext: Schema.NullOr(Schema.Uint8ArrayFromSelf)
}

export const sealedColumns = sql`coalesce(v.format, 0) AS format, coalesce(v.kek_id, '') AS kek_id,
  v.wrapped_key AS wrapped_key, v.ciphertext AS ciphertext`

const isNewest = sql`s.version = (SELECT max(n.version) FROM secret_versions n WHERE n.secret_id = s.id)`

/** Whether secret `s` is at its newest version, for a statement that reads nothing of the version itself. */
export const newestColumn = sql`CASE WHEN ${isNewest} THEN 1 ELSE 0 END AS newest`

/** The version `v` of each secret `s`; none where the secret points to another one than the newest. */
export const newestVersion = sql`
  LEFT JOIN secret_versions v ON v.secret_id = s.id AND v.version = s.version AND ${isNewest}`

/** Columns of secret `s` with its `newestVersion`. */
export const versionColumns = sql`s.id AS id, s.version AS version,
  CASE WHEN v.version IS NULL THEN 0 ELSE 1 END AS newest, coalesce(v.value_bytes, 0) AS value_bytes`
