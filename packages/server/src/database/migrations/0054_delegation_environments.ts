import type { Migration } from "../Migration.js"

/**
 * The environments of a delegation beside its first. Older servers know only that one, and delete its row alone: so those of this
 * table go with it.
 */
export const delegationEnvironments: Migration = {
  name: "delegation_environments",
  statements: [
    `CREATE TABLE delegation_environments (
      delegation_id TEXT NOT NULL REFERENCES delegations (id) ON DELETE CASCADE,
      env_id TEXT NOT NULL REFERENCES environments (id) ON DELETE CASCADE,
      position INTEGER NOT NULL,
      PRIMARY KEY (delegation_id, env_id)
    ) STRICT`,
    "CREATE INDEX delegation_environments_by_env ON delegation_environments (env_id)"
  ]
}
