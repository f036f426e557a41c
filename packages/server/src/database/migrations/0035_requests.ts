import type { Migration } from "../Migration.js"

/**
 * Protections of environments, and the requests that people vote on. `approvers` is a word or a JSON list of addresses, `break_glass`
 * a JSON list. `request_parts` holds the encrypted call of a pending request: its key is a row of `wrapped_keys`. The rule of an
 * approved request stands beside a lasting one for the same patterns. An older server would change a protected environment.
 */
export const requests: Migration = {
  name: "requests",
  raisesMinReader: true,
  statements: [
    "ALTER TABLE environments ADD COLUMN protected INTEGER NOT NULL DEFAULT 0",
    `CREATE TABLE protections (
      env_id TEXT PRIMARY KEY REFERENCES environments (id),
      org_id TEXT NOT NULL REFERENCES organizations (id),
      needed INTEGER NOT NULL CHECK (needed BETWEEN 1 AND 3),
      approvers TEXT NOT NULL,
      self INTEGER NOT NULL CHECK (self IN (0, 1)),
      break_glass TEXT NOT NULL,
      expires_after TEXT NOT NULL,
      passkey INTEGER NOT NULL CHECK (passkey IN (0, 1)),
      version INTEGER NOT NULL,
      removed_at TEXT,
      updated_by TEXT NOT NULL,
      updated_at TEXT NOT NULL
    ) STRICT`,
    `CREATE TABLE requests (
      id TEXT PRIMARY KEY,
      org_id TEXT NOT NULL REFERENCES organizations (id),
      env_id TEXT NOT NULL REFERENCES environments (id),
      kind TEXT NOT NULL CHECK (kind IN ('access', 'change')),
      state TEXT NOT NULL CHECK (state IN ('pending', 'done', 'refused', 'withdrawn', 'expired', 'outdated')),
      actor_type TEXT NOT NULL CHECK (actor_type IN ('user', 'service_account')),
      actor_id TEXT NOT NULL,
      actor_name TEXT NOT NULL,
      delegation_id TEXT,
      key_id TEXT,
      reason TEXT,
      call TEXT,
      keys TEXT,
      details TEXT,
      permission TEXT,
      expires_in INTEGER,
      rule_id TEXT,
      revision INTEGER,
      approved_by TEXT,
      outdated TEXT,
      protection_version INTEGER NOT NULL,
      needed INTEGER NOT NULL,
      bytes INTEGER NOT NULL,
      created_at TEXT NOT NULL,
      expires_at INTEGER NOT NULL,
      decided_at TEXT
    ) STRICT`,
    "CREATE INDEX requests_by_org ON requests (org_id, id)",
    "CREATE INDEX requests_pending ON requests (env_id, actor_id) WHERE state = 'pending'",
    "CREATE INDEX requests_ending ON requests (expires_at, id) WHERE state = 'pending'",
    "CREATE INDEX requests_of_revisions ON requests (env_id, revision) WHERE revision IS NOT NULL",
    `CREATE TABLE request_votes (
      request_id TEXT NOT NULL REFERENCES requests (id),
      user_id TEXT NOT NULL REFERENCES users (id),
      email TEXT NOT NULL,
      vote TEXT NOT NULL CHECK (vote IN ('approve', 'refuse')),
      created_at TEXT NOT NULL,
      PRIMARY KEY (request_id, user_id)
    ) STRICT, WITHOUT ROWID`,
    `CREATE TABLE request_parts (
      request_id TEXT NOT NULL REFERENCES requests (id),
      part INTEGER NOT NULL,
      ciphertext BLOB NOT NULL,
      PRIMARY KEY (request_id, part)
    ) STRICT`,
    "ALTER TABLE acl_rules ADD COLUMN request_id TEXT",
    "DROP INDEX acl_rules_live",
    `CREATE INDEX acl_rules_live ON acl_rules (subject_id, org_id, project_pattern, env_pattern)
      WHERE removed_at IS NULL`,
    `CREATE UNIQUE INDEX acl_rules_lasting ON acl_rules (subject_id, org_id, project_pattern, env_pattern)
      WHERE removed_at IS NULL AND request_id IS NULL`
  ]
}
