import Sqlite from "better-sqlite3"
import { randomUUID } from "node:crypto"
import { join } from "node:path"
import { placeKey, placesOf } from "../../dist/audit/Places.js"

/** Opens the database of a stopped server, to fill it fast and without durability. */
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

/** Indexes the entries of a log above a number and records their actors, as an append does. */
const postAuditEntries = (database, log, behind) => {
  const place = database.prepare(
    "INSERT INTO audit_places (log, project, env, keys, actor_name) VALUES (?, ?, ?, ?, ?) RETURNING id"
  )
  const member = database.prepare("INSERT INTO audit_place_keys (key, log, place) VALUES (?, ?, ?)")
  const posting = database.prepare(
    "INSERT INTO audit_postings (place, actor_id, action, resource_type, position) VALUES (?, ?, ?, ?, ?)"
  )
  const ids = new Map()
  const idOf = (found) => {
    const name = placeKey(found)
    if (!ids.has(name)) {
      const { id } = place.get(log, found.project, found.env, found.keys, found.actor_name)
      for (const key of found.members) member.run(key, log, id)
      ids.set(name, id)
    }
    return ids.get(name)
  }
  for (const { env, id, keys, project } of database
    .prepare("SELECT id, project, env, keys FROM audit_places WHERE log = ? AND actor_name = ''")
    .all(log)) {
    ids.set(placeKey({ project, env, keys, actor_name: "" }), id)
  }
  const rows = database.prepare(
    "SELECT position, actor_id, actor_name, action, resource_type, metadata FROM audit_entries WHERE log = ? AND seq > ? ORDER BY seq LIMIT 10000"
  )
  const last = database.prepare("SELECT seq FROM audit_entries WHERE log = ? AND position = ?")
  for (let seq = behind; ;) {
    const found = rows.all(log, seq)
    for (const row of found) {
      for (const each of placesOf(row)) {
        posting.run(idOf(each), row.actor_id, row.action, row.resource_type, row.position)
      }
    }
    if (found.length === 0) break
    seq = last.get(log, found.at(-1).position).seq
  }
  database
    .prepare(
      `INSERT INTO audit_place_counters (place, actor_id, action, resource_type, entries)
      SELECT o.place, o.actor_id, o.action, o.resource_type, count(*) FROM audit_postings o
        JOIN audit_entries e ON e.position = o.position WHERE e.log = ? AND e.seq > ? GROUP BY 1, 2, 3, 4
      ON CONFLICT (place, actor_id, action, resource_type) DO UPDATE SET entries = entries + excluded.entries`
    )
    .run(log, behind)
  database
    .prepare(
      `INSERT OR IGNORE INTO audit_actors (log, actor_name, actor_id)
      SELECT DISTINCT log, actor_name, actor_id FROM audit_entries WHERE log = ? AND seq > ?`
    )
    .run(log, behind)
}

/**
 * Adds audit entries to an organization, up to a number, one per second: mostly reads by 50 actors, of 20 keys in two
 * projects with three environments. One in 100 is a read of a whole environment. A rare action, resource type and project
 * have 20 entries each, among the oldest. Heads, counters and filter columns are consistent; the hash chain is not valid,
 * which pages do not check.
 */
export const addAuditEntries = (database, org, upTo) => {
  const log = orgId(database, org)
  const keys = Array.from({ length: 20 }, (_, index) => `KEY_${index}`)
  const { at, seq } = one(database, "SELECT seq, created_at AS at FROM audit_heads WHERE log = ?", log)
  database
    .prepare(
      `WITH RECURSIVE n(seq) AS (SELECT ? UNION ALL SELECT seq + 1 FROM n WHERE seq < ?)
      INSERT INTO audit_entries (id, log, seq, org_id, actor_type, actor_id, actor_name, action, resource_type,
        resource_id, ip_address, metadata, created_at, chain)
      SELECT printf('00000000-0000-7000-8000-%012d', seq), ?, seq, ?, 'user', printf('actor-%d', seq % 50),
        printf('user-%d@example.com', seq % 50),
        CASE WHEN seq <= 1000 AND seq % 50 = 7 THEN 'secret.delete' WHEN seq % 10 = 0 THEN 'secret.set' ELSE 'secret.read' END,
        CASE WHEN seq <= 1000 AND seq % 50 = 9 THEN 'env' ELSE 'secret' END, 'resource', '203.0.113.7',
        json_object(
          'project', CASE WHEN seq <= 1000 AND seq % 50 = 11 THEN 'legacy' WHEN seq % 5 = 0 THEN 'api' ELSE 'web' END,
          'env', CASE seq % 3 WHEN 0 THEN 'dev' WHEN 1 THEN 'staging' ELSE 'prod' END,
          CASE WHEN seq % 100 = 99 THEN 'keys' ELSE 'key' END,
          CASE WHEN seq % 100 = 99 THEN json(?) ELSE printf('KEY_%d', seq % 20) END),
        strftime('%Y-%m-%dT%H:%M:%fZ', ?, printf('+%d seconds', seq - ?)), printf('%064d', seq)
      FROM n`
    )
    .run(seq + 1, upTo, log, log, JSON.stringify(keys.map((key) => ({ key, version: 1 }))), at, seq)
  postAuditEntries(database, log, seq)
  database
    .prepare(
      `INSERT INTO audit_counters (log, actor_id, action, resource_type, entries)
      SELECT log, actor_id, action, resource_type, count(*) FROM audit_entries WHERE log = ? AND seq > ? GROUP BY 1, 2, 3, 4`
    )
    .run(log, seq)
  database
    .prepare(
      `UPDATE audit_heads SET seq = ?, chain = printf('%064d', ?),
      created_at = (SELECT max(created_at) FROM audit_entries WHERE log = ? AND seq = ?) WHERE log = ?`
    )
    .run(upTo, upTo, log, upTo, log)
}

/** Adds members, projects with one environment each, and access rules, spread evenly over the members. */
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

/** Adds secrets of 60,000 bytes in new environments, up to a database size in MiB. Their ciphertext is random. */
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
    `INSERT INTO secret_versions (secret_id, version, revision, format, kek_id, wrapped_key, ciphertext, value_bytes,
      created_by, created_at) VALUES (?, 1, 1, 1, ?, randomblob(60), randomblob(60028), 60000, 'bench', ?)`
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
