import type { Migration } from "../Migration.js"

/** Access rules that are for some keys, or that deny them. A rule for all keys has the pattern that fits all. */
export const keyRules: Migration = {
  name: "key_rules",
  statements: [
    "ALTER TABLE acl_rules ADD COLUMN key_pattern TEXT NOT NULL DEFAULT '**'",
    "ALTER TABLE acl_rules ADD COLUMN denies INTEGER NOT NULL DEFAULT 0 CHECK (denies IN (0, 1))",
    "DROP INDEX acl_rules_lasting",
    `CREATE UNIQUE INDEX acl_rules_lasting ON acl_rules (subject_id, org_id, project_pattern, env_pattern, key_pattern, denies)
      WHERE removed_at IS NULL AND request_id IS NULL`
  ]
}
