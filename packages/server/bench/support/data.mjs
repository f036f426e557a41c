import Sqlite from "better-sqlite3"
import { randomUUID } from "node:crypto"
import { join } from "node:path"

/** Opens the database of a server that is stopped, to fill it faster than the server would. Nothing here is for safety. */
export const fill = (folder, work) => {
  const database = new Sqlite(join(folder, "service.db"))
  database.pragma("synchronous = OFF")
  database.pragma("foreign_keys = ON")
  database.pragma("cache_size = -200000")
  database.transaction(() => work(database))()
  database.pragma("wal_checkpoint(TRUNCATE)")
  database.close()
}

const one = (database, statement, ...parameters) => database.prepare(statement).get(...parameters)

const orgId = (database, org) => one(database, "SELECT id FROM organizations WHERE name = ?", org).id

/**
 * Audit entries of an organization, up to a number: mostly reads by 50 actors. Of a rare action and of a rare resource type
 * there are 20 each, among the oldest, however many there are in all. Their links are not valid, which a page does not look
 * at; heads and counters agree with them.
 */
export const addAuditEntries = (database, org, upTo) => {
  const log = orgId(database, org)
  const { at, seq } = one(database, "SELECT seq, created_at AS at FROM audit_heads WHERE log = ?", log)
  database
    .prepare(
      `WITH RECURSIVE n(seq) AS (SELECT ? UNION ALL SELECT seq + 1 FROM n WHERE seq < ?)
      INSERT INTO audit_entries (id, log, seq, org_id, actor_type, actor_id, actor_name, action, resource_type,
        resource_id, ip_address, metadata, created_at, chain)
      SELECT printf('00000000-0000-7000-8000-%012d', seq), ?, seq, ?, 'user', printf('actor-%d', seq % 50),
        printf('user-%d@example.com', seq % 50),
        CASE WHEN seq <= 1000 AND seq % 50 = 7 THEN 'secret.delete' WHEN seq % 10 = 0 THEN 'secret.set' ELSE 'secret.read' END,
        CASE WHEN seq <= 1000 AND seq % 50 = 9 THEN 'env' ELSE 'secret' END, 'resource', '203.0.113.7', '{"key":"KEY_1","version":1}',
        ?, printf('%064d', seq)
      FROM n`
    )
    .run(seq + 1, upTo, log, log, at)
  database
    .prepare(
      `INSERT INTO audit_counters (log, actor_id, action, resource_type, entries)
      SELECT log, actor_id, action, resource_type, count(*) FROM audit_entries WHERE log = ? AND seq > ? GROUP BY 1, 2, 3, 4`
    )
    .run(log, seq)
  database.prepare("UPDATE audit_heads SET seq = ?, chain = printf('%064d', ?) WHERE log = ?").run(upTo, upTo, log)
}

/** Members, projects with an environment each, and access rules, spread evenly over the members. */
export const addPeople = (database, org, { members, projects, rules }) => {
  const id = orgId(database, org)
  const at = "2026-01-01T00:00:00.000Z"
  const user = database.prepare("INSERT INTO users (id, email, name, created_at, updated_at) VALUES (?, ?, ?, ?, ?)")
  const member = database.prepare(
    "INSERT INTO members (id, org_id, user_id, role, created_at, updated_at) VALUES (?, ?, ?, 'developer', ?, ?)"
  )
  const project = database.prepare(
    "INSERT INTO projects (id, org_id, name, created_at, updated_at) VALUES (?, ?, ?, ?, ?)"
  )
  const environment = database.prepare(
    "INSERT INTO environments (id, project_id, name, created_at, updated_at) VALUES (?, ?, 'prod', ?, ?)"
  )
  const rule = database.prepare(
    `INSERT INTO acl_rules (id, org_id, subject_type, subject_id, project_pattern, env_pattern, permission, created_by,
      created_at, updated_at) VALUES (?, ?, 'user', ?, ?, ?, 'read', ?, ?, ?)`
  )
  const users = Array.from({ length: members }, (_, index) => {
    const userId = randomUUID()
    user.run(userId, `${org}-${index}@example.com`, `User ${index}`, at, at)
    member.run(randomUUID(), id, userId, at, at)
    return userId
  })
  for (let index = 0; index < projects; index++) {
    const projectId = randomUUID()
    project.run(projectId, id, `project-${index}`, at, at)
    environment.run(randomUUID(), projectId, at, at)
  }
  for (let index = 0; index < rules; index++) {
    const userId = users[index % users.length]
    rule.run(randomUUID(), id, userId, `project-${Math.floor(index / users.length)}-*`, "prod", userId, at, at)
  }
}

/** Secrets of 60,000 bytes in new environments, until the database has a size in MiB. Their ciphertext is noise. */
export const addBulk = (database, mebibytes) => {
  const { kek_id, project_id } = one(
    database,
    `SELECT v.kek_id AS kek_id, e.project_id AS project_id FROM secret_versions v JOIN secrets s ON s.id = v.secret_id
      JOIN environments e ON e.id = s.env_id`
  )
  const at = "2026-01-01T00:00:00.000Z"
  const environment = database.prepare(
    `INSERT INTO environments (id, project_id, name, secret_count, value_bytes, created_at, updated_at)
      VALUES (?, ?, ?, ?, ?, ?, ?)`
  )
  const secret = database.prepare(
    "INSERT INTO secrets (id, env_id, key, version, created_at, updated_at) VALUES (?, ?, ?, 1, ?, ?)"
  )
  const version = database.prepare(
    `INSERT INTO secret_versions (secret_id, version, revision, format, kek_id, ciphertext, nonce, wrapped_key, key_nonce,
      value_bytes, created_by, created_at) VALUES (?, 1, 1, 1, ?, randomblob(60016), randomblob(12), randomblob(48),
      randomblob(12), 60000, 'bench', ?)`
  )
  const each = 100
  for (let filled = 0; filled < mebibytes * 2 ** 20; filled += each * 65_536) {
    const env = randomUUID()
    environment.run(env, project_id, `bulk-${filled}`, each, each * 60_000, at, at)
    for (let index = 0; index < each; index++) {
      const id = randomUUID()
      secret.run(id, env, `KEY_${index}`, at, at)
      version.run(id, kek_id, at)
    }
  }
}
