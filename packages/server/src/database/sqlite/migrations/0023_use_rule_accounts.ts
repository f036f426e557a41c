import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

/**
 * The accounts and people of use rules by id, so that a new account of the same name does not inherit them. Names in `terms`
 * that nobody has any more are left out.
 */
const statements = [
  `CREATE TABLE use_rule_accounts (
    rule_id TEXT NOT NULL REFERENCES use_rules (id),
    position INTEGER NOT NULL,
    org_id TEXT NOT NULL REFERENCES organizations (id),
    subject_id TEXT NOT NULL,
    PRIMARY KEY (rule_id, position)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX use_rule_accounts_of_subject ON use_rule_accounts (subject_id, org_id)`,
  `INSERT INTO use_rule_accounts (rule_id, position, org_id, subject_id)
    SELECT r.id, n.key, p.org_id, s.id
    FROM use_rules r
    JOIN secrets k ON k.id = r.secret_id
    JOIN environments e ON e.id = k.env_id
    JOIN projects p ON p.id = e.project_id
    JOIN json_each(r.terms, '$.accounts') n
    JOIN (SELECT id, org_id, name FROM service_accounts WHERE removed_at IS NULL
      UNION ALL SELECT u.id, m.org_id, u.email FROM members m JOIN users u ON u.id = m.user_id WHERE m.removed_at IS NULL) s
      ON s.org_id = p.org_id AND s.name = n.value
    WHERE r.removed_at IS NULL`
]

export const useRuleAccounts = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
