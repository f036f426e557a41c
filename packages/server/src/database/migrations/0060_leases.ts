import type { Migration } from "../Migration.js"

/**
 * Users of databases that are made for one caller each. A lease is committed before the database sees its name. `due_at` is when the
 * job acts: at its end, at the end of its making, or at the next try to remove its user. The row goes when the database confirms that.
 * The columns of a credential are null for a person.
 */
export const leases: Migration = {
  name: "leases",
  statements: [
    `CREATE TABLE lease_roles (
      id TEXT PRIMARY KEY,
      org_id TEXT NOT NULL REFERENCES organizations (id),
      env_id TEXT NOT NULL REFERENCES environments (id),
      connection_id TEXT NOT NULL REFERENCES connections (id),
      name TEXT NOT NULL,
      create_sql TEXT NOT NULL,
      revoke_sql TEXT NOT NULL,
      default_ttl TEXT NOT NULL,
      max_ttl TEXT NOT NULL,
      created_by TEXT NOT NULL,
      created_at TEXT NOT NULL
    ) STRICT`,
    "CREATE UNIQUE INDEX lease_roles_by_name ON lease_roles (env_id, name)",
    "CREATE INDEX lease_roles_by_connection ON lease_roles (connection_id)",
    `CREATE TABLE leases (
      id TEXT PRIMARY KEY,
      org_id TEXT NOT NULL REFERENCES organizations (id),
      env_id TEXT NOT NULL REFERENCES environments (id),
      role_id TEXT NOT NULL REFERENCES lease_roles (id),
      actor_type TEXT NOT NULL,
      actor_id TEXT NOT NULL,
      actor_name TEXT NOT NULL,
      delegation_id TEXT,
      key_id TEXT,
      federation_id TEXT,
      idempotency TEXT,
      username TEXT NOT NULL,
      state TEXT NOT NULL,
      ended TEXT,
      expires_at INTEGER NOT NULL,
      renewable_until INTEGER NOT NULL,
      due_at INTEGER NOT NULL,
      failures INTEGER NOT NULL,
      problem TEXT,
      created_at TEXT NOT NULL
    ) STRICT`,
    "CREATE INDEX leases_of_env ON leases (env_id, actor_id)",
    "CREATE INDEX leases_by_role ON leases (role_id)",
    "CREATE UNIQUE INDEX leases_by_idempotency ON leases (env_id, actor_id, idempotency) WHERE idempotency IS NOT NULL",
    "CREATE INDEX leases_due ON leases (due_at, id)"
  ]
}
