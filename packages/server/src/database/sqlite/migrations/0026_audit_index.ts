import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

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
