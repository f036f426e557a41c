import { timestamp } from "@coffer/server/base/Time"
import { Database } from "@coffer/server/database/Database"
import { type Fenced, fencedByNothing, LeaseLost } from "@coffer/server/database/jobs/Lease"
import { query } from "@coffer/server/database/Query"
import { shrinkingTables } from "@coffer/server/database/sqlite/ShrinkingTables"
import { expiries, purges } from "@coffer/server/operations/maintenance/Endings"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Exit } from "effect"
import { entries, grant, onDatabase, organization, raw, transaction } from "../support/Services.js"

/** The tables whose rows are deleted, and not by the list of maintenance: what deletes them. */
const deletedElsewhere: Readonly<Record<string, string>> = {
  passkeys: "their person, or the end of the account",
  use_rule_accounts: "a change of the rule",
  group_members: "a change of the group, or the end of a membership",
  group_mappings: "a change of the mapping",
  request_parts: "the expiry of the request, or its decision",
  request_votes: "a change of the vote",
  declared_keys: "a change of the declaration",
  previews: "a change of the project's previews",
  wrapped_keys: "a rotation, and the erasure of a removed organization",
  trash: "the job trash, which erases what nothing brings back",
  import_use_people: "the purge of the import, or its end",
  due_mails: "the job of due mails",
  jobs: "the jobs themselves, two days after a bucket",
  instances: "the heartbeat of another server"
}

/** The tables whose rows stay, by the reason. */
const kept: Readonly<Record<string, ReadonlyArray<string>>> = {
  "the trail": [
    ...["audit_actors", "audit_entries", "audit_heads", "audit_indexed", "audit_logs", "audit_place_counters"],
    ...["audit_place_keys", "audit_places", "audit_postings", "audit_times"]
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
  "secret_dues.due_at": "the job of due dates",
  "trash.restorable_until": "the job trash",
  "jobs.until": "the end of a lease, which another server takes over",
  "webhooks.old_key_until": "a delivery compares it; the next rotation replaces it",
  "protections.expires_after": "the lifetime of requests, which end by their own column",
  "service_accounts.expires_in_days": "the lifetime of keys",
  "users.logins_ended": "a count"
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
