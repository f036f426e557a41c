import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/**
 * References of each version of a secret, by name: an environment that is made anew under its name is meant again. Only the
 * rows of current versions count. Reads of values go by the encrypted text, not by these rows.
 */
const statements = [
  `CREATE TABLE secret_references (
    secret_id TEXT NOT NULL REFERENCES secrets (id),
    version INTEGER NOT NULL,
    env_id TEXT NOT NULL REFERENCES environments (id),
    project_id TEXT NOT NULL REFERENCES projects (id),
    target_env TEXT NOT NULL,
    target_key TEXT NOT NULL,
    PRIMARY KEY (secret_id, version, target_env, target_key)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX secret_references_to ON secret_references (project_id, target_env, target_key, secret_id)`,
  `CREATE INDEX secret_references_from ON secret_references (env_id)`
]

export const secretReferences = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
