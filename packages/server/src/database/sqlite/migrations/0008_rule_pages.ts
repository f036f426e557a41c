import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/** Indexes access rules in the order of their list, so that a page reads only its own rules. */
const statements = [
  `DROP INDEX acl_rules_by_org`,
  `CREATE INDEX acl_rules_by_org ON acl_rules (org_id, id) WHERE removed_at IS NULL`
]

export const rulePages = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
