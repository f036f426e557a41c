import { SqlClient } from "@effect/sql"
import { Effect } from "effect"

/** An organization's access rules in the order of their list, so that a page of it reads no other rules. */
const statements = [
  `DROP INDEX acl_rules_by_org`,
  `CREATE INDEX acl_rules_by_org ON acl_rules (org_id, id) WHERE removed_at IS NULL`
]

export const rulePages = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
