import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/** The last entry of each log in the search index, which follows the log. Up to now, an entry was appended with its index. */
const statements = [
  `CREATE TABLE audit_indexed (
    log TEXT PRIMARY KEY,
    seq INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID`,
  `INSERT INTO audit_indexed (log, seq) SELECT log, seq FROM audit_heads`
]

export const auditIndex = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
