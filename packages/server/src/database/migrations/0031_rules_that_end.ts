import type { Migration } from "../Migration.js"

/**
 * When an access rule ends, in milliseconds since 1970: it is compared with the database's clock. Null: it lasts. An older server would
 * take a rule that has ended for one that lasts.
 */
export const rulesThatEnd: Migration = {
  name: "rules_that_end",
  raisesMinReader: true,
  statements: [
    "ALTER TABLE acl_rules ADD COLUMN expires_at INTEGER",
    `CREATE INDEX acl_rules_ending ON acl_rules (expires_at, id) WHERE removed_at IS NULL AND expires_at IS NOT NULL`
  ]
}
