import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { rowsOf } from "../../Rows.js"

/**
 * Stores the wrapped data key and the ciphertext as one blob each, prefixed with its nonce. `ciphertext` is the last
 * column, so that statements that need no value read none of its overflow pages.
 */
const table = `CREATE TABLE secret_versions (
    secret_id TEXT NOT NULL REFERENCES secrets (id),
    version INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    format INTEGER NOT NULL,
    kek_id TEXT NOT NULL,
    wrapped_key BLOB,
    value_bytes INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    created_at TEXT NOT NULL,
    destroyed_at TEXT,
    ciphertext BLOB NOT NULL,
    PRIMARY KEY (secret_id, version),
    CHECK ((wrapped_key IS NULL) = (destroyed_at IS NOT NULL))
  ) STRICT, WITHOUT ROWID`

/** How many versions one statement copies. */
const stride = 1_000
const progressEvery = 100_000

const CountRow = Schema.Struct({ count: Schema.Number })
const LastRow = Schema.Struct({ secret_id: Schema.String, version: Schema.Number })

const copyAll = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [{ count } = { count: 0 }] = yield* rowsOf(CountRow)(yield* sql`SELECT count(*) AS count FROM earlier_versions`)
  let last = { secret_id: "", version: 0 }
  for (let done = 0; done < count; done += stride) {
    if (done > 0 && done % progressEvery === 0) {
      yield* Effect.logInfo(`converting versions of secrets: ${done} of ${count}`)
    }
    const behind = sql`(secret_id, version) > (${last.secret_id}, ${last.version}) ORDER BY secret_id, version`
    yield* sql`INSERT INTO secret_versions (secret_id, version, revision, format, kek_id, wrapped_key, value_bytes,
        created_by, created_at, destroyed_at, ciphertext)
      SELECT secret_id, version, revision, format, kek_id, CAST(key_nonce || wrapped_key AS BLOB), value_bytes,
        created_by, created_at, destroyed_at, CAST(nonce || ciphertext AS BLOB)
      FROM earlier_versions WHERE ${behind} LIMIT ${stride}`
    const [next] = yield* rowsOf(LastRow)(
      yield* sql`SELECT secret_id, version FROM earlier_versions WHERE ${behind} LIMIT 1 OFFSET ${stride - 1}`
    )
    last = next ?? last
  }
})

export const sealedBlobs = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE secret_versions RENAME TO earlier_versions`
  yield* sql.unsafe(table)
  yield* copyAll
  yield* sql`DROP TABLE earlier_versions`
  yield* sql`CREATE INDEX secret_versions_by_kek ON secret_versions (kek_id)`
})
