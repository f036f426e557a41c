/** Records in JSON form, for the examples of the document. */
export const ids = {
  user: "5b0c7a0e-3f7d-4c1e-9a51-2f6d1c0b8e44",
  other: "c3a1f2b4-8d5e-4f60-a7b8-9c0d1e2f3a4b",
  session: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d10",
  org: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d20",
  project: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d30",
  env: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d40",
  secret: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d50",
  rule: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d60",
  account: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d70",
  entry: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d80",
  backup: "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d90",
  instance: "7d3e9c52-1b64-4a0f-8e2d-5c6b7a8f9e01"
} as const

export const chain = "9f2c4e6a8b0d1f3e5a7c9b1d3f5e7a9c0b2d4f6e8a1c3b5d7f9e0a2c4b6d8f1e"

export const etag = `"Zk3n0fQxk8vR7yB2mJtW5cLsEaH"`

const created_at = "2026-01-31T12:00:00.000Z"
const updated_at = "2026-02-01T08:30:00.000Z"

export const user = { id: ids.user, type: "user", email: "ada@example.com", name: "ada", is_superadmin: false }

export const session = {
  id: ids.session,
  created_at,
  last_used_at: updated_at,
  ip_address: "203.0.113.7",
  current: true
}

export const organization = { id: ids.org, name: "acme", role: "owner", created_at, updated_at }

export const member = {
  user_id: ids.other,
  email: "grace@example.com",
  name: "grace",
  role: "developer",
  created_at
}

export const project = { id: ids.project, name: "webshop", created_at, updated_at }

export const environment = { id: ids.env, name: "prod", created_at, updated_at }

export const written = { key: "DATABASE_URL", version: 3, created_at, updated_at }

export const read = { key: "DATABASE_URL", value: "postgres://app@db.internal/shop", version: 3 }

export const listed = { key: "DATABASE_URL", version: 3, updated_at }

export const versions = [
  { version: 3, created_at: updated_at, created_by: "ada@example.com", current: true, destroyed: false },
  { version: 2, created_at, created_by: "deploy pipeline", current: false, destroyed: true }
]

export const destroyed = { data: versions.filter((version) => version.destroyed), erased: "now" }

export const bundle = { revision: 42, data: [{ ...read, updated_at }] }

export const bundleWritten = {
  revision: 43,
  data: [
    { key: "API_KEY", version: 1, change: "created" },
    { key: "DATABASE_URL", version: 4, change: "updated" },
    { key: "OLD_TOKEN", version: 2, change: "deleted" }
  ]
}

export const revisions = [
  {
    revision: 42,
    created_at: updated_at,
    created_by: "ada@example.com",
    keys: [
      { key: "DATABASE_URL", version: 3, change: "updated" },
      { key: "OLD_TOKEN", version: 2, change: "deleted" }
    ]
  },
  {
    revision: 41,
    created_at,
    created_by: "deploy pipeline",
    keys: [{ key: "API_KEY", version: 2, change: "updated" }]
  }
]

export const difference = [
  { key: "API_KEY", status: "only_there" },
  { key: "DATABASE_URL", status: "different" }
]

export const aclRule = {
  id: ids.rule,
  subject_type: "user",
  subject_id: ids.other,
  email: "grace@example.com",
  project_pattern: "webshop",
  env_pattern: "{dev,staging}",
  permission: "write",
  created_by: "ada@example.com",
  created_at,
  updated_at
}

export const explanation = {
  allowed: ["read"],
  because: [{ permission: "write", by: "rule", rule_id: ids.rule, limited_by: "the role member, which never writes" }]
}

export const serviceAccount = {
  id: ids.account,
  name: "deploy pipeline",
  project: "webshop",
  reveal: true,
  key_hint: "x7Qd",
  expires_at: "2026-05-01T12:00:00.000Z",
  created_by: "ada@example.com",
  created_at,
  last_used_at: null
}

/** Not a valid key, so that secret scanners do not report the documentation. */
export const serviceAccountWithKey = { ...serviceAccount, api_key: "svc_sa_…x7Qd" }

export const auditPage = {
  data: [
    {
      id: ids.entry,
      seq: 128,
      actor_type: "user",
      actor_id: ids.user,
      actor_name: "ada@example.com",
      action: "secret.set",
      resource_type: "secret",
      resource_id: ids.secret,
      org_id: ids.org,
      ip_address: "203.0.113.7",
      metadata: { project: "webshop", env: "prod", key: "DATABASE_URL", version: 3, client: "cli" },
      created_at: updated_at
    }
  ],
  pagination: { total: 128, limit: 1, has_next: true, next_cursor: "s128" }
}

export const verification = { valid: true, entries: 128, head: { seq: 128, chain }, first_invalid_seq: null }

export const backup = {
  id: ids.backup,
  created_at,
  size_bytes: 1_048_576,
  trigger: "scheduled",
  key_fingerprint: "3f9a1c2e7b5d4f60",
  instance: ids.instance
}

const backupCounts = { organizations: 1, projects: 3, environments: 6, secrets: 42, versions: 128, entries: 1_024 }

export const restore = {
  id: ids.backup,
  path: `/var/lib/coffer/service.db.restore.${ids.backup}`,
  size_bytes: 1_048_576,
  counts: backupCounts
}

export const drill = { backup, valid: true, problems: [], age_seconds: 7_200, seconds: 1.4, counts: backupCounts }

export const userRecord = {
  id: ids.other,
  email: "grace@example.com",
  name: "grace",
  is_superadmin: false,
  disabled_at: null,
  created_at,
  last_seen_at: updated_at,
  organizations: 1,
  sessions: 2
}

export const createdAccount = {
  id: ids.account,
  name: "deploy pipeline",
  org: "acme",
  project: "webshop",
  created_at,
  last_used_at: null
}
