import { Schema } from "effect"
import { sql } from "../database/Query.js"
import { wrappedKeyBytes } from "../keys/Envelope.js"
import { nonceBytes } from "../keys/Keyring.js"

/** Whether the version of a secret is the highest that is stored. Only an edit of the file makes it another one. */
export const Newest = Schema.Literal(0, 1)

/** What a version sealed, and how. */
export const sealedFields = {
  format: Schema.Number,
  kek_id: Schema.String,
  sealed: Schema.NullOr(Schema.Uint8ArrayFromSelf)
}

/**
 * What version `v` sealed, its parts as one blob: each blob of a row costs as much as opening it. NULL where a part is missing
 * or has another length.
 */
export const sealedColumns = sql([
  `coalesce(v.format, 0) AS format, coalesce(v.kek_id, '') AS kek_id,
    CASE WHEN length(v.nonce) = ${nonceBytes} AND length(v.key_nonce) = ${nonceBytes}
        AND length(v.wrapped_key) = ${wrappedKeyBytes}
      THEN CAST(v.nonce || v.key_nonce || v.wrapped_key || v.ciphertext AS BLOB) END AS sealed`
])

const isNewest = sql`s.version = (SELECT max(n.version) FROM secret_versions n WHERE n.secret_id = s.id)`

/** Whether secret `s` is at its newest version, for a statement that reads nothing of the version itself. */
export const newestColumn = sql`CASE WHEN ${isNewest} THEN 1 ELSE 0 END AS newest`

/** The version `v` of each secret `s`; none where the secret points to another one than the newest. */
export const newestVersion = sql`
  LEFT JOIN secret_versions v ON v.secret_id = s.id AND v.version = s.version AND ${isNewest}`

/** Columns of secret `s` with its `newestVersion`. */
export const versionColumns = sql`s.id AS id, s.version AS version,
  CASE WHEN v.version IS NULL THEN 0 ELSE 1 END AS newest, coalesce(v.value_bytes, 0) AS value_bytes`
