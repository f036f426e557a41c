/** Data for stores of both engines, see `stores.mjs`. */
import { randomUUID } from "node:crypto"

export const orgId = async (store, org) => (await store.one("SELECT id FROM organizations WHERE name = ?", org)).id

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

/** Adds access rules of a service account that match no project, and last or end. */
export const addOwnRules = async (store, org, accountId, rules, expires_at = null) => {
  const org_id = await orgId(store, org)
  const made = Array.from({ length: rules }, (_, index) => ({
    ...ruleOf("service_account", accountId, index),
    ...{ org_id, expires_at }
  }))
  await store.insert("acl_rules", made)
}

/** Adds groups with a member, and a rule of each for a project of its own. */
export const addGroups = async (store, org, email, count) => {
  const org_id = await orgId(store, org)
  const { id: user_id } = await store.one("SELECT id FROM users WHERE email = ?", email)
  const groups = Array.from({ length: count }, (_, index) => ({
    ...{ id: randomUUID(), org_id, name: `team-${index}`, created_by: email },
    ...times
  }))
  await store.insert("groups", groups)
  await store.insert(
    "group_members",
    groups.map(({ id }) => ({ user_id, org_id, group_id: id, added_by: email, created_at: at }))
  )
  await store.insert(
    "acl_rules",
    groups.map(({ id }, index) => ({ ...ruleOf("group", id, index), project_pattern: `team-${index}`, org_id }))
  )
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
