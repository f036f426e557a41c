/** Data for stores of both engines, see `stores.mjs`. */
import { randomUUID } from "node:crypto"
import { termKey, termsOf } from "../../dist/audit/SearchTerms.js"

const orgId = async (store, org) => (await store.one("SELECT id FROM organizations WHERE name = ?", org)).id

/** The places of some kinds of entries, inserted where they are new. Returns the id of each by `termKey`. */
const addPlaces = async (store, log, places) => {
  const known = await store.all(
    "SELECT id, log, project, env, keys, actor_name FROM audit_places WHERE log IN (?, '')",
    log
  )
  const ids = new Map(known.map(({ id, ...place }) => [termKey(place), id]))
  for (const place of places) {
    const name = termKey(place)
    if (ids.has(name)) continue
    const { id } = await store.one(
      "INSERT INTO audit_places (log, project, env, keys, actor_name) VALUES (?, ?, ?, ?, ?) RETURNING id",
      place.log,
      place.project,
      place.env,
      place.keys,
      place.actor_name
    )
    await store.insert(
      "audit_place_keys",
      place.members.map((key) => ({ key, log: place.log, place: id }))
    )
    ids.set(name, id)
  }
  return ids
}

/** Indexes the entries of a log above a number and records their actors, as an append does. */
const postAuditEntries = async (store, log, behind) => {
  const kinds = await store.all(
    `SELECT DISTINCT actor_id, actor_name, action, resource_type, metadata FROM audit_entries
    WHERE log = ? AND seq > ?`,
    log,
    behind
  )
  const placed = kinds.flatMap((kind) =>
    termsOf({ log, ...kind }).flatMap((place) => place.actors.map((posted) => ({ kind, place, posted })))
  )
  const ids = await addPlaces(
    store,
    log,
    placed.map(({ place }) => place)
  )
  // Columns of the entries' types and collations.
  await store.all(
    `CREATE TEMP TABLE kinds AS SELECT position AS place, actor_id, action, resource_type, metadata, actor_id AS posted
    FROM audit_entries WHERE 1 = 0`
  )
  await store.insert(
    "kinds",
    placed.map(({ kind: { action, actor_id, metadata, resource_type }, place, posted }) => ({
      place: ids.get(termKey(place)),
      posted,
      actor_id,
      action,
      resource_type,
      metadata
    }))
  )
  await store.all("CREATE INDEX kinds_by_entry ON kinds (metadata, actor_id, action, resource_type)")
  await store.all("ANALYZE kinds")
  const found = `audit_entries e JOIN kinds k ON k.metadata = e.metadata AND k.actor_id = e.actor_id
    AND k.action = e.action AND k.resource_type = e.resource_type WHERE e.log = ? AND e.seq > ?`
  await store.all(
    `INSERT INTO audit_postings (place, actor_id, action, resource_type, position)
    SELECT k.place, k.posted, e.action, e.resource_type, e.position FROM ${found} ORDER BY 1, 2, 3, 4, 5`,
    log,
    behind
  )
  await store.all(
    `INSERT INTO audit_place_counters (place, actor_id, action, resource_type, entries)
    SELECT k.place, k.posted, e.action, e.resource_type, count(*) FROM ${found} GROUP BY 1, 2, 3, 4
    ON CONFLICT (place, actor_id, action, resource_type)
      DO UPDATE SET entries = audit_place_counters.entries + excluded.entries`,
    log,
    behind
  )
  await store.all("DROP TABLE kinds")
  await store.all(
    `INSERT INTO audit_actors (log, actor_name, actor_id)
    SELECT DISTINCT log, actor_name, actor_id FROM audit_entries WHERE log = ? AND seq > ?
    ON CONFLICT DO NOTHING`,
    log,
    behind
  )
}

/**
 * Adds audit entries to an organization, up to a number, one per second: mostly reads by 50 actors, of 20 keys in two
 * projects with three environments. One in 100 is a read of a whole environment. A rare action, resource type and project
 * have 20 entries each, among the oldest. Heads, counters and filter columns are consistent; the hash chain is not valid,
 * which pages do not check.
 */
export const addAuditEntries = async (store, org, upTo) => {
  const log = await orgId(store, org)
  const keys = JSON.stringify(Array.from({ length: 20 }, (_, index) => ({ key: `KEY_${index}`, version: 1 })))
  const { at, seq: before } = await store.one("SELECT seq, created_at AS at FROM audit_heads WHERE log = ?", log)
  const behind = Number(before)
  // The server follows the entries that it appended so far within a second.
  await store.all(
    `INSERT INTO audit_indexed (log, seq) VALUES (?, ${upTo}) ON CONFLICT (log) DO UPDATE SET seq = ${upTo}`,
    log
  )
  await store.inBulk(["audit_entries", "audit_postings"], async () => {
    await store.all(
      `INSERT INTO audit_entries (id, log, seq, org_id, actor_type, actor_id, actor_name, action, resource_type,
        resource_id, ip_address, metadata, created_at, chain)
      SELECT '00000000-0000-7000-8000-' || ${store.digits("seq", 12)}, '${log}', seq, '${log}', 'user',
        'actor-' || (seq % 50), 'user-' || (seq % 50) || '@example.com',
        CASE WHEN seq <= 1000 AND seq % 50 = 7 THEN 'secret.delete' WHEN seq % 10 = 0 THEN 'secret.set' ELSE 'secret.read' END,
        CASE WHEN seq <= 1000 AND seq % 50 = 9 THEN 'env' ELSE 'secret' END, 'resource', '203.0.113.7',
        '{"project":"' ||
          CASE WHEN seq <= 1000 AND seq % 50 = 11 THEN 'legacy' WHEN seq % 5 = 0 THEN 'api' ELSE 'web' END ||
          '","env":"' || CASE seq % 3 WHEN 0 THEN 'dev' WHEN 1 THEN 'staging' ELSE 'prod' END ||
          CASE WHEN seq % 100 = 99 THEN '","keys":${keys}}' ELSE '","key":"KEY_' || (seq % 20) || '"}' END,
        ${store.secondsAfter(at, `seq - ${behind}`)}, ${store.digits("seq", 64)}
      FROM ${store.series(behind + 1, upTo)}`
    )
    await postAuditEntries(store, log, behind)
  })
  await store.all(
    `UPDATE audit_heads SET seq = ${upTo}, chain = ${store.digits(upTo, 64)},
      created_at = (SELECT created_at FROM audit_entries WHERE log = ? AND seq = ${upTo}) WHERE log = ?`,
    log,
    log
  )
}

const at = "2026-01-01T00:00:00.000Z"
const times = { created_at: at, updated_at: at }

const ruleOf = (subject_type, subject_id, number) => ({
  id: randomUUID(),
  subject_type,
  subject_id,
  project_pattern: `project-${number}-*`,
  env_pattern: "prod",
  permission: "read",
  created_by: subject_id,
  ...times
})

/** Adds members, projects with one environment each, and access rules, spread evenly over the members. */
export const addPeople = async (store, org, { members, projects, rules }) => {
  const org_id = await orgId(store, org)
  const numbered = (count, make) => Array.from({ length: count }, (_, index) => make(index))
  const users = numbered(members, (index) => ({
    id: randomUUID(),
    email: `${org}-${index}@example.com`,
    name: `User ${index}`,
    ...times
  }))
  await store.insert("users", users)
  await store.insert(
    "members",
    users.map(({ id }) => ({ id: randomUUID(), org_id, user_id: id, role: "developer", ...times }))
  )
  const made = numbered(projects, (index) => ({ id: randomUUID(), org_id, name: `project-${index}`, ...times }))
  await store.insert("projects", made)
  await store.insert(
    "environments",
    made.map(({ id }) => ({ id: randomUUID(), project_id: id, name: "prod", ...times }))
  )
  await store.insert(
    "acl_rules",
    numbered(rules, (index) => ({
      ...ruleOf("user", users[index % users.length].id, Math.floor(index / users.length)),
      org_id
    }))
  )
}

/** Adds access rules of a service account that match no project. */
export const addOwnRules = async (store, org, accountId, rules) => {
  const org_id = await orgId(store, org)
  const made = Array.from({ length: rules }, (_, index) => ({ ...ruleOf("service_account", accountId, index), org_id }))
  await store.insert("acl_rules", made)
}

/** Adds new environments with 100 secrets each to the project that has secrets. Their ciphertext is random. */
export const addSecrets = async (store, { bytes, environments }) => {
  const { kek_id, project_id } = await store.one(
    `SELECT v.kek_id AS kek_id, e.project_id AS project_id FROM secret_versions v JOIN secrets s ON s.id = v.secret_id
      JOIN environments e ON e.id = s.env_id`
  )
  const each = 100
  const idOf = (kind, number) => `'00000000-0000-7000-${kind}-' || ${store.digits(number, 12)}`
  await store.all(
    `INSERT INTO environments (id, project_id, name, secret_count, value_bytes, created_at, updated_at)
    SELECT ${idOf("9000", "seq")}, '${project_id}', 'bulk-' || seq, ${each}, ${each * bytes}, '${at}', '${at}'
    FROM ${store.series(1, environments)}`
  )
  const secrets = store.series(each, environments * each + each - 1)
  await store.all(
    `INSERT INTO secrets (id, env_id, key, version, created_at, updated_at)
    SELECT ${idOf("a000", "seq")}, ${idOf("9000", `seq / ${each}`)}, 'KEY_' || (seq % ${each}), 1, '${at}', '${at}'
    FROM ${secrets}`
  )
  await store.all(
    `INSERT INTO secret_versions (secret_id, version, revision, format, kek_id, wrapped_key, ciphertext, value_bytes,
      created_by, created_at)
    SELECT ${idOf("a000", "seq")}, 1, 1, 1, '${kek_id}', ${store.randomBytes(60)}, ${store.randomBytes(bytes + 28)},
      ${bytes}, 'bench', '${at}'
    FROM ${secrets}`
  )
}
