import { timestamp } from "@coffer/server/base/Time"
import { Database } from "@coffer/server/database/Database"
import { type Fenced, fencedByNothing, LeaseLost } from "@coffer/server/database/jobs/Lease"
import { query } from "@coffer/server/database/Query"
import { shrinkingTables } from "@coffer/server/database/sqlite/ShrinkingTables"
import { requestExpiry } from "@coffer/server/directory/requests/RequestExpiry"
import { keyNotice } from "@coffer/server/directory/service-accounts/KeyExpiry"
import { expiries, purges } from "@coffer/server/operations/maintenance/Endings"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Exit } from "effect"
import { entries, grant, onDatabase, organization, raw, transaction } from "../support/Services.js"

/** The tables whose rows are deleted, and not by the list of maintenance: what deletes them. */
const deletedElsewhere: Readonly<Record<string, string>> = {
  consents: "the end of the delegation",
  delegation_environments: "the end of the delegation, or of the environment",
  passkeys: "their person, or the end of the account",
  group_members: "a change of the group, or the end of a membership",
  group_mappings: "a change of the mapping",
  scim_users: "their deletion by the directory",
  scim_groups: "the removal of the group",
  scim_group_members: "a change of the group by the directory",
  request_parts: "the expiry of the request, or its decision",
  request_votes: "a change of the vote",
  declared_keys: "a change of the declaration",
  rotations: "a change of the environment's rotations",
  lease_roles: "a change of the environment's roles",
  leases: "the job of leases, when the database confirms the removal of the user",
  connections: "a change of the environment's connections",
  previews: "a change of the project's previews",
  wrapped_keys: "a rotation, and the erasure of a removed organization",
  targets: "their deletion",
  target_keys: "the removal there, or the deletion of the target",
  target_sources: "the next push, or the deletion of the target",
  trash: "the job trash, which erases what nothing brings back",
  import_use_people: "the purge of the import, or its end",
  due_mails: "the job of due mails",
  jobs: "the jobs themselves, two days after a bucket",
  instances: "the heartbeat of another server",
  audit_entries: "the archive that holds them",
  audit_postings: "the archive that holds their entries",
  audit_place_counters: "the archive that holds their last entry"
}

/** The tables whose rows stay, by the reason. */
const kept: Readonly<Record<string, ReadonlyArray<string>>> = {
  "the trail": [
    ...["audit_actors", "audit_heads", "audit_indexed", "audit_logs", "audit_place_keys", "audit_places"],
    ...["audit_times", "audit_archives", "audit_starts"]
  ],
  "a removal marks the row, and the job trash erases the values of removed places": [
    ...["users", "identities", "organizations", "members", "groups", "projects", "service_accounts", "federations"],
    ...["federation_keys", "protections", "webhooks", "secrets", "secret_versions", "use_rules"]
  ],
  "the history of secrets": ["secret_changes", "secret_changes_since", "revision_notes"],
  "a change of the secret replaces the row": ["secret_references", "secret_dues"],
  "one row, or one for each thing that stays": [
    ...["instance", "wrap_counts", "stream_places", "drills", "restores", "effect_sql_migrations"]
  ]
}

/** The columns that tell of an end, of tables that are not in the list of maintenance: what reads them. */
const endsElsewhere: Readonly<Record<string, string>> = {
  "federations.expires_at": "an exchange compares it; people see an ended federation and renew it",
  "secret_dues.expires_at": "the job of due dates tells of it; the secret stays",
  "rotations.due_at": "the job of rotations",
  "leases.expires_at": "the job of leases",
  "leases.renewable_until": "a renewal compares it",
  "leases.due_at": "the job of leases",
  "secret_dues.due_at": "the job of due dates",
  "trash.restorable_until": "the job trash",
  "targets.push_until": "the end of a push that was cut off: another one goes on",
  "jobs.until": "the end of a lease, which another server takes over",
  "webhooks.old_key_until": "a delivery compares it; the next rotation replaces it",
  "protections.expires_after": "the lifetime of requests, which end by their own column",
  "service_accounts.expires_in_days": "the lifetime of keys",
  "users.logins_ended": "a count",
  "consents.code_expires_at": "an exchange compares it; it goes with its delegation"
}

const tellsOfEnd = /expire|until|due_at|_end(?:ed|s|ing)?$|lifetime|valid_/

describe("the list of things that end", () => {
  it.effect("has each table whose rows end or are deleted; each other table gives its reason", () =>
    Effect.gen(function* () {
      const listed = (yield* Effect.all([expiries, purges])).flat().map(({ table }) => table)
      const columns = (yield* raw)
        .prepare<[], { table: string; column: string }>(
          `SELECT t.name AS "table", c.name AS "column" FROM sqlite_schema t, pragma_table_info(t.name) c
            WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite%'`
        )
        .all()
      const tables = new Set(columns.map(({ table }) => table))
      assert.deepStrictEqual(
        listed.filter((table) => !tables.has(table)),
        [],
        "tables of the list that the schema does not have"
      )
      const ending = columns.filter(({ column, table }) => tellsOfEnd.test(column) && !listed.includes(table))
      assert.sameMembers(
        ending.map(({ column, table }) => `${table}.${column}`),
        Object.keys(endsElsewhere)
      )
      assert.sameMembers(
        [...shrinkingTables].filter((table) => !listed.includes(table)),
        Object.keys(deletedElsewhere)
      )
      assert.sameMembers(
        [...tables].filter((table) => !listed.includes(table) && !shrinkingTables.has(table)),
        Object.values(kept).flat()
      )
    }).pipe(onDatabase())
  )
})

describe("a job of things that end", () => {
  it.effect("leaves a row whose end was changed after it was found to its next run", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      const { write } = yield* query
      const fenced = fencedByNothing(yield* Database)
      const now = yield* Clock.currentTimeMillis
      yield* grant(ada, "read", { ends: now - 10 })
      yield* transaction(write`UPDATE environments SET expires_at = ${"end"} WHERE name = 'staging'`({ end: now + 10 }))
      const later = write`UPDATE acl_rules SET expires_at = expires_at + 1`
      const longer = write`UPDATE environments SET expires_at = expires_at + 1 WHERE name = 'staging'`
      const afterChange: Fenced = (effect, scopes) =>
        fenced(Effect.zipRight(Effect.zipRight(later({}), longer({})), effect), scopes)
      const said = Effect.map(entries(), (log) =>
        log
          .filter(({ actor }) => actor === "expiry")
          .map(({ action, metadata }) => [action, /"expires_at":"(.*?)"/.exec(JSON.stringify(metadata))?.[1]])
      )
      const jobs = yield* expiries
      yield* Effect.forEach(jobs, ({ run }) => run(afterChange))
      assert.deepStrictEqual(yield* said, [])
      yield* Effect.forEach(jobs, ({ run }) => run(fenced))
      assert.deepStrictEqual(yield* said, [
        ["acl.expire", timestamp(now - 8)],
        ["env.expiring", timestamp(now + 12)]
      ])
    }).pipe(onDatabase())
  )

  it.effect("expires a request with an entry, and erases its call", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      const db = yield* raw
      const now = yield* Clock.currentTimeMillis
      const request = (id: string, end: number) =>
        db.exec(`INSERT INTO requests (id, org_id, env_id, kind, state, actor_type, actor_id, actor_name, protection_version,
            needed, bytes, created_at, expires_at)
          SELECT '${id}', p.org_id, e.id, 'change', 'pending', 'user', '${ada.id}', 'ada@example.com', 0, 1, 9, '', ${end}
          FROM environments e JOIN projects p ON p.id = e.project_id WHERE e.name = 'staging';
          INSERT INTO request_parts (request_id, part, ciphertext) VALUES ('${id}', 0, x'01')`)
      request("00000000-0000-7000-8000-000000000001", now)
      request("00000000-0000-7000-8000-000000000002", now + 1)
      yield* (yield* requestExpiry).run(fencedByNothing(yield* Database))
      assert.deepStrictEqual(
        db
          .prepare(
            `SELECT state, bytes, decided_at, (SELECT count(*) FROM request_parts WHERE request_id = id) AS parts
              FROM requests ORDER BY id`
          )
          .all(),
        [
          { state: "expired", bytes: 0, decided_at: timestamp(now), parts: 0 },
          { state: "pending", bytes: 9, decided_at: null, parts: 1 }
        ]
      )
      assert.deepStrictEqual(
        (yield* entries()).filter(({ actor }) => actor === "expiry").map(({ action, metadata }) => [action, metadata]),
        [["request.expire", { project: "webshop", env: "staging", requester: "ada@example.com" }]]
      )
      // Its call has no key that could open it.
      db.exec("DELETE FROM request_parts; DELETE FROM requests WHERE state = 'pending'")
    }).pipe(onDatabase())
  )

  it.effect("marks what a removed organization has, without an entry", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      const db = yield* raw
      const now = yield* Clock.currentTimeMillis
      yield* grant(ada, "read", { ends: now })
      db.exec(`UPDATE environments SET expires_at = ${now} WHERE name = 'staging';
        UPDATE environments SET expires_at = ${now + 1} WHERE name = 'prod';
        UPDATE organizations SET removed_at = '1970'`)
      yield* Effect.forEach(yield* expiries, ({ run }) => Effect.flatMap(Database, (db) => run(fencedByNothing(db))))
      assert.deepStrictEqual(
        db
          .prepare(
            `SELECT r.removed_at AS rule, e.name AS env, e.removed_at AS removed, e.announced_end AS announced
              FROM acl_rules r, environments e WHERE e.expires_at IS NOT NULL ORDER BY e.name`
          )
          .all(),
        [
          { rule: timestamp(now), env: "prod", removed: null, announced: null },
          { rule: timestamp(now), env: "staging", removed: timestamp(now), announced: null }
        ]
      )
      assert.deepStrictEqual(
        db
          .prepare("SELECT action FROM audit_entries WHERE actor_name = 'expiry' UNION ALL SELECT name FROM trash")
          .all(),
        []
      )
    }).pipe(onDatabase())
  )

  it.effect("announces no key that was replaced or revoked, or whose account was removed", () =>
    Effect.gen(function* () {
      yield* organization()
      const db = yield* raw
      const now = yield* Clock.currentTimeMillis
      const week = 7 * 24 * 60 * 60 * 1000
      const key = (name: string, end: number, column = "announced_at", removed: string | null = null) => {
        db.prepare(
          `INSERT INTO service_accounts (id, org_id, name, reveal, created_by, created_at, updated_at, removed_at)
            SELECT '00000000-0000-7000-8000-' || printf('%012d', (SELECT count(*) FROM service_accounts)), id, ?, 1, 'x', '', '', ?
            FROM organizations`
        ).run(name, removed)
        db.prepare(
          `INSERT INTO api_keys (id, service_account_id, token_hash, hint, created_at, expires_at, ${column})
            SELECT name, id, name, 'h', '', ?, ? FROM service_accounts WHERE name = ?`
        ).run(timestamp(end), column === "announced_at" ? null : "1969", name)
      }
      key("soon", now + week)
      key("late", now + week + 1)
      key("over", now)
      key("replaced", now + 1, "replaced_at")
      key("revoked", now + 1, "removed_at")
      key("removed", now + 1, "announced_at", "1969")
      const { run } = yield* keyNotice
      const fenced = fencedByNothing(yield* Database)
      yield* run(fenced)
      yield* run(fenced)
      assert.deepStrictEqual(
        (yield* entries()).filter(({ actor }) => actor === "expiry").map(({ action, metadata }) => [action, metadata]),
        [["service_account.expiring", { name: "soon", expires_at: timestamp(now + week) }]]
      )
    }).pipe(onDatabase())
  )

  it.effect("changes nothing without its lease", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      const db = yield* raw
      yield* grant(ada, "read", { ends: (yield* Clock.currentTimeMillis) - 1 })
      db.exec("INSERT INTO login_failures (id, email, created_at) VALUES ('f', 'ada@example.com', '1969')")
      const fenced = fencedByNothing(yield* Database)
      const lost: Fenced = (effect, scopes) =>
        fenced(Effect.zipLeft(effect, Effect.die(new LeaseLost({ job: "tidy" }))), scopes)
      const left = () =>
        db
          .prepare("SELECT id FROM login_failures UNION ALL SELECT 'rule' FROM acl_rules WHERE removed_at IS NULL")
          .pluck()
          .all()
      const jobs = (yield* Effect.all([expiries, purges])).flat()
      for (const { run } of jobs) yield* Effect.exit(run(lost))
      assert.deepStrictEqual(left(), ["f", "rule"])
      const ran = yield* Effect.forEach(jobs, ({ run }) => Effect.exit(run(fenced)))
      assert.isTrue(ran.every(Exit.isSuccess))
      assert.deepStrictEqual(left(), [])
    }).pipe(onDatabase())
  )
})
