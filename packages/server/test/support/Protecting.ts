import type { EnvPath } from "@coffer/domain/api/Paths"
import { SqlClient } from "@effect/sql"
import { Effect } from "effect"
import { envPath } from "./Services.js"

/** The terms of a protection; those that are left out let any other admin vote alone. */
export interface StoredTerms {
  readonly needed?: number
  readonly approvers?: "owners" | "admins" | ReadonlyArray<string>
  readonly self?: boolean
  readonly break_glass?: ReadonlyArray<string>
  readonly passkey?: boolean
}

/** Protects an environment by SQL, whether or not anybody could end it again. */
export const protect = (terms: StoredTerms = {}, path: EnvPath = envPath()) =>
  Effect.gen(function* () {
    const { approvers = "admins", break_glass = [], needed = 1, passkey = false, self = false } = terms
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ env_id: string; org_id: string }>`
      UPDATE environments SET protected = 1 WHERE id = (
        SELECT e.id FROM environments e JOIN projects p ON p.id = e.project_id JOIN organizations o ON o.id = p.org_id
        WHERE o.name = ${path.org_name} AND p.name = ${path.project_name} AND e.name = ${path.env_name})
      RETURNING id AS env_id, (SELECT p.org_id FROM projects p WHERE p.id = project_id) AS org_id`
    if (row === undefined) return yield* Effect.dieMessage(`there is no ${path.project_name}/${path.env_name}`)
    yield* sql`INSERT INTO protections ${sql.insert({
      ...row,
      needed,
      approvers: typeof approvers === "string" ? approvers : JSON.stringify(approvers),
      self: self ? 1 : 0,
      break_glass: JSON.stringify(break_glass),
      expires_after: "72h",
      passkey: passkey ? 1 : 0,
      version: 1,
      updated_by: "ada@example.com",
      updated_at: "1970-01-01T00:00:00.000Z"
    })}`
  })
