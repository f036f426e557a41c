import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/**
 * Requirements of projects for keys. `required_in` is `*`, or names of environments, each between commas. An environment
 * that is made again under its name has the same requirements, because these are names.
 */
const statements = [
  `CREATE TABLE declared_keys (
    project_id TEXT NOT NULL REFERENCES projects (id),
    key TEXT NOT NULL,
    required_in TEXT NOT NULL,
    pattern TEXT,
    description TEXT,
    example TEXT,
    owner TEXT,
    updated_by TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    PRIMARY KEY (project_id, key)
  ) STRICT`,
  `ALTER TABLE projects ADD COLUMN strict INTEGER NOT NULL DEFAULT 0 CHECK (strict IN (0, 1))`
]

export const declaredKeys = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
