import { EnvName } from "@coffer/domain/base/Names"
import { Access } from "@coffer/server/access/Access"
import { timestamp } from "@coffer/server/base/Time"
import { Database } from "@coffer/server/database/Database"
import { fencedByNothing } from "@coffer/server/database/jobs/Lease"
import { ruleExpiry, ruleFacts } from "@coffer/server/directory/acl/RuleExpiry"
import {
  environmentExpiry,
  environmentNotice,
  makeNameExpiry
} from "@coffer/server/secrets/environments/EnvironmentExpiry"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, TestClock } from "effect"
import {
  account,
  asActor,
  entries,
  grant,
  onDatabase,
  organization,
  projectPath,
  transaction
} from "../support/Services.js"

const day = 24 * 60 * 60 * 1000

/** The entries that the server wrote for what has ended. */
const told = Effect.map(entries(), (log) =>
  log
    .filter(({ actor }) => actor === "expiry")
    .map(({ action, metadata, resource_id, resource_type }) => [action, resource_type, resource_id, metadata])
)

describe("an access rule that ends", () => {
  it("is recorded with its subject by the names of its kind, and its end", () => {
    const rule = { project_pattern: "webshop", env_pattern: "*", permission: "read" } as const
    const facts = { ...rule, key_pattern: "**", denies: 0, expires_at: 60_000 } as const
    const names = { email: null, name: null, group_name: null }
    for (const [found, expected] of [
      [
        { ...facts, ...names, subject_type: "user", subject_id: "u", email: "ada@example.com", name: "Ada" },
        { ...rule, subject_type: "user", subject_id: "u", email: "ada@example.com" }
      ],
      [
        { ...facts, ...names, subject_type: "service_account", subject_id: "a", name: "bot" },
        { ...rule, subject_type: "service_account", subject_id: "a", name: "bot" }
      ],
      [
        { ...facts, ...names, subject_type: "service_account", subject_id: "a" },
        { ...rule, subject_type: "service_account", subject_id: "a" }
      ],
      [
        { ...facts, ...names, subject_type: "group", subject_id: "g", group_name: "devs" },
        { ...rule, subject_type: "group", subject_id: "g", group: "devs" }
      ]
    ] as const) {
      assert.deepStrictEqual<object>(ruleFacts(found as never), { ...expected, expires_at: timestamp(60_000) })
      assert.deepStrictEqual<object>(ruleFacts({ ...found, expires_at: null } as never), expected)
    }
  })

  it.effect("is removed with an entry at its end, once, and lasts until then", () =>
    Effect.gen(function* () {
      yield* organization()
      const bot = yield* account("bot")
      const now = yield* Clock.currentTimeMillis
      yield* grant(bot, "write", { env: "prod", ends: now + 1 })
      const { run, table } = yield* ruleExpiry
      assert.strictEqual(table, "acl_rules")
      const fenced = fencedByNothing(yield* Database)
      yield* run(fenced)
      assert.deepStrictEqual(yield* told, [])
      yield* TestClock.adjust("1 millis")
      for (const _run of [1, 2]) yield* run(fenced)
      const sql = yield* SqlClient.SqlClient
      const [rule] = yield* sql<{ id: string; removed_at: string }>`SELECT id, removed_at FROM acl_rules`
      assert.strictEqual(rule?.removed_at, timestamp(now + 1))
      const facts = { subject_type: "service_account", subject_id: bot.id, name: "bot", permission: "write" }
      assert.deepStrictEqual(yield* told, [
        [
          ...["acl.expire", "acl_rule", rule?.id],
          { ...facts, project_pattern: "*", env_pattern: "prod", expires_at: timestamp(now + 1) }
        ]
      ])
    }).pipe(onDatabase())
  )
})

describe("an environment that ends", () => {
  const ending = (millis: number) =>
    Effect.gen(function* () {
      const ada = yield* organization()
      const now = yield* Clock.currentTimeMillis
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE environments SET expires_at = ${now + millis} WHERE name = 'staging'`
      const [env] = yield* sql<{ id: string }>`SELECT id FROM environments WHERE name = 'staging'`
      const entry = (action: string) => [
        ...[action, "env", env?.id],
        { project: "webshop", env: "staging", name: "staging", expires_at: timestamp(now + millis) }
      ]
      return { ada, entry, env, fenced: fencedByNothing(yield* Database), sql }
    })

  it.effect("is announced a day before, once for each end", () =>
    Effect.gen(function* () {
      const { entry, fenced, sql } = yield* ending(day + 1)
      const { run } = yield* environmentNotice
      yield* run(fenced)
      assert.deepStrictEqual(yield* told, [])
      yield* TestClock.adjust("1 millis")
      for (const _run of [1, 2]) yield* run(fenced)
      assert.deepStrictEqual(yield* told, [entry("env.expiring")])
      yield* sql`UPDATE environments SET expires_at = expires_at - 1 WHERE name = 'staging'`
      yield* run(fenced)
      assert.lengthOf(yield* told, 2)
    }).pipe(onDatabase())
  )

  it.effect("is removed with an entry, and can be restored", () =>
    Effect.gen(function* () {
      const { entry, env, fenced, sql } = yield* ending(0)
      const { run } = yield* environmentExpiry
      for (const _run of [1, 2]) yield* run(fenced)
      assert.deepStrictEqual(yield* told, [entry("env.expire")])
      assert.deepStrictEqual(yield* sql`SELECT place_id, kind, name FROM trash`, [
        { place_id: env?.id, kind: "env", name: "staging" }
      ])
    }).pipe(onDatabase())
  )

  it.effect("gives its name to the next one at once, which does not wait for the job", () =>
    Effect.gen(function* () {
      const { ada, entry, sql } = yield* ending(0)
      const giveUp = yield* makeNameExpiry
      const place = yield* Effect.flatMap(Access, (access) =>
        access.creating(projectPath(), { name: EnvName.make("new"), from: undefined, end: null })
      ).pipe(asActor(ada))
      yield* transaction(giveUp(place, EnvName.make("prod")))
      assert.deepStrictEqual(yield* told, [])
      yield* transaction(giveUp(place, EnvName.make("staging")))
      assert.deepStrictEqual(yield* told, [entry("env.expire")])
      assert.deepStrictEqual(yield* sql`SELECT name FROM environments WHERE removed_at IS NOT NULL`, [
        { name: "staging" }
      ])
    }).pipe(onDatabase())
  )
})
