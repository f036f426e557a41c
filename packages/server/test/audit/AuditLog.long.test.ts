import { createHmac } from "node:crypto"
import { setTimeout } from "node:timers/promises"
import { AuditIndex } from "@coffer/server/audit/AuditIndex"
import { AuditLog } from "@coffer/server/audit/AuditLog"
import { auditFailures } from "@coffer/server/audit/GroupAppends"
import type { AuditSource } from "@coffer/server/audit/AuditEvent"
import { genesis, headMac, link } from "@coffer/server/audit/Chain"
import { RequestInfo } from "@coffer/server/base/RequestInfo"
import { Instance } from "@coffer/server/keys/Instance"
import { Projects } from "@coffer/server/directory/projects/Projects"
import { Access } from "@coffer/server/access/Access"
import { ProjectName } from "@coffer/domain/base/Names"
import { SqlClient } from "@effect/sql"
import { assert, describe, it } from "@effect/vitest"
import { Array, Context, Effect, Exit, Layer, Metric, Scope, TestClock } from "effect"
import {
  account,
  asActor,
  DatabasePlace,
  entries,
  enter,
  envPath,
  freshPlace,
  grant,
  invariantsIn,
  isOnPostgres,
  member,
  newProject,
  onDamagedDatabase,
  onDatabase,
  organization,
  orgPath,
  outcome,
  person,
  raw,
  readBundle,
  readSecret,
  removeSecret,
  servicesIn,
  setSecret,
  writeBundle,
  transaction
} from "../support/Services.js"
import { openToChanges, refusing } from "../support/Refusing.js"

const system: AuditSource = { actor: { type: "system", id: null, name: "test" }, orgId: null }
const event = { action: "backup.create", resource_type: "backup", resource_id: null } as const

const stored = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ count: number }>`SELECT count(*) AS count FROM audit_entries WHERE log = 'system'`
  return row!.count
})

const failures = Effect.map(Metric.value(auditFailures), ({ count }) => count)

describe("the audit log", () => {
  it.effect("has an entry for each change, with who, what, where and nothing of a value", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* newProject(ada, "api")
      yield* setSecret(ada, "A", "canary-one")
      yield* setSecret(ada, "A", "canary-two")
      yield* readSecret(ada, "A", { version: 1 })
      yield* removeSecret(ada, "A")
      const all = yield* entries()
      assert.deepStrictEqual(
        all.map(({ action, metadata, seq }) => [seq, action, metadata]),
        [
          [1, "org.create", { name: "acme" }],
          [2, "project.create", { project: "webshop", name: "webshop", environments: ["dev", "staging", "prod"] }],
          [3, "project.create", { project: "api", name: "api", environments: ["dev", "staging", "prod"] }],
          [4, "secret.set", { project: "webshop", env: "prod", key: "A", version: 1 }],
          [5, "secret.set", { project: "webshop", env: "prod", key: "A", version: 2 }],
          [6, "secret.delete", { project: "webshop", env: "prod", key: "A", version: 2 }],
          [7, "secret.read", { project: "webshop", env: "prod", key: "A", version: 1 }]
        ]
      )
      for (const entry of all) {
        assert.deepInclude(entry, { actor: "ada@example.com", actor_id: ada.id, actor_type: "user", ip_address: null })
        assert.isString(entry.resource_id)
      }
      assert.strictEqual(new Set(all.slice(3).map(({ resource_id }) => resource_id)).size, 1, "one secret")
    }).pipe(onDatabase())
  )

  it.effect("takes the address and the program from the request", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      const request = { id: "r", ip: "192.0.2.7", client: "coffer/1.0", route: null, actor: null }
      yield* setSecret(ada, "A", "x").pipe(Effect.provideService(RequestInfo, request))
      assert.deepInclude((yield* entries()).at(-1), {
        ip_address: "192.0.2.7",
        metadata: { project: "webshop", env: "prod", key: "A", version: 1, client: "coffer/1.0" }
      })
    }).pipe(onDatabase())
  )

  it.effect("says when only a superadmin's right allowed it, and not when a role did", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      const root = yield* person("root@example.com", { superadmin: true })
      yield* setSecret({ ...ada, superadmin: true }, "A", "by an owner")
      yield* setSecret(root, "A", "by a superadmin alone")
      assert.deepStrictEqual(
        (yield* entries()).slice(2).map(({ actor, metadata }) => [actor, metadata]),
        [
          ["ada@example.com", { project: "webshop", env: "prod", key: "A", version: 1 }],
          ["root@example.com", { project: "webshop", env: "prod", key: "A", version: 2, via: "superadmin" }]
        ]
      )
    }).pipe(onDatabase())
  )

  it.effect("names a service account by its name", () =>
    Effect.gen(function* () {
      yield* organization()
      const bot = yield* account("deploy pipeline")
      yield* grant(bot, "write")
      yield* setSecret(bot, "A", "x")
      assert.deepInclude((yield* entries()).at(-1), {
        actor: "deploy pipeline",
        actor_id: bot.id,
        actor_type: "service_account"
      })
    }).pipe(onDatabase())
  )

  it.effect("has one entry for each thing refused, and no entry of what does not exist", () =>
    Effect.gen(function* () {
      yield* organization()
      const dev = yield* member("dev@example.com", "developer")
      const stranger = yield* person("eve@example.com")
      assert.strictEqual(yield* outcome(readSecret(dev, "A")), "Forbidden")
      assert.strictEqual(yield* outcome(readSecret(stranger, "A")), "NotFound")
      assert.strictEqual(yield* outcome(enter(dev, "secret.read", envPath("nowhere"))), "NotFound")
      const refused = (yield* entries()).slice(2)
      assert.deepStrictEqual(
        refused.map(({ action, actor, metadata, resource_type }) => ({ action, actor, metadata, resource_type })),
        [
          {
            action: "access.denied",
            actor: "dev@example.com",
            metadata: { action: "secret.read", project: "webshop", env: "prod" },
            resource_type: "env"
          }
        ]
      )
    }).pipe(onDatabase())
  )

  it.effect("is a log for each organization, and one for what belongs to no organization", () =>
    Effect.gen(function* () {
      const ada = yield* organization("acme")
      const bob = yield* organization("other", "webshop", "bob@example.com")
      yield* (yield* AuditLog).seen(system, event)
      yield* setSecret(ada, "A", "x")
      yield* setSecret(bob, "A", "x", { path: envPath("prod", "webshop", "other") })
      for (const [log, actions] of [
        ["acme", ["org.create", "project.create", "secret.set"]],
        ["other", ["org.create", "project.create", "secret.set"]],
        ["system", ["backup.create"]]
      ] as const) {
        const found = yield* entries(log)
        assert.deepStrictEqual(
          found.map(({ action, seq }) => [seq, action]),
          actions.map((action, index) => [index + 1, action])
        )
      }
    }).pipe(onDatabase())
  )

  it.effect("takes nothing of a change that was refused or rolled back", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      const before = (yield* entries()).length
      yield* outcome(setSecret(ada, "A", "x", { expected: 3 }))
      yield* outcome(removeSecret(ada, "ABSENT"))
      yield* outcome(newProject(ada, "webshop"))
      yield* outcome(writeBundle(ada, { set: { A: "1" } }, { ifMatch: '"old"' }))
      assert.strictEqual((yield* entries()).length, before)
    }).pipe(onDatabase())
  )

  it.effect("never says that an entry is older than the one before it, whatever the clock does", () =>
    Effect.gen(function* () {
      const audit = yield* AuditLog
      const hours = [12, 13, 9, 14, 0, 14]
      for (const hour of hours) {
        yield* TestClock.setTime(Date.UTC(2026, 0, 31, hour))
        yield* audit.seen(system, event)
        yield* audit.flush
      }
      assert.deepStrictEqual(
        (yield* entries("system")).map(({ created_at }) => created_at.slice(11, 13)),
        ["12", "13", "13", "14", "14", "14"]
      )
    }).pipe(onDatabase())
  )

  it.effect.skipIf(isOnPostgres())("takes no update and no removal, from anybody", () =>
    Effect.gen(function* () {
      yield* organization()
      const db = yield* raw
      for (const statement of [
        "UPDATE audit_entries SET actor_name = 'somebody else'",
        "UPDATE audit_entries SET seq = seq + 1",
        "UPDATE OR REPLACE audit_entries SET position = position + 1",
        "DELETE FROM audit_entries",
        "DELETE FROM audit_entries WHERE seq = 2"
      ]) {
        assert.throws(() => db.exec(statement), /audit entries are immutable/, statement)
      }
      assert.throws(
        () =>
          db.exec(
            "INSERT INTO audit_entries SELECT NULL, id, log, seq, org_id, actor_type, actor_id, actor_name, action, resource_type, resource_id, ip_address, metadata, created_at, chain FROM audit_entries"
          ),
        /immutable/
      )
    }).pipe(onDatabase())
  )

  it.effect.skipIf(isOnPostgres())("takes no entry in the place of another, even by REPLACE", () =>
    Effect.gen(function* () {
      yield* organization()
      const db = yield* raw
      const columns =
        "id, log, seq, org_id, actor_type, actor_id, 'forged', action, resource_type, resource_id, ip_address, metadata, created_at, chain"
      assert.throws(() =>
        db.exec(`INSERT OR REPLACE INTO audit_entries SELECT position, ${columns} FROM audit_entries`)
      )
      assert.throws(() => db.exec(`REPLACE INTO audit_entries SELECT NULL, ${columns} FROM audit_entries`))
    }).pipe(onDatabase())
  )
})

describe("reads", () => {
  it.effect("are recorded in batches, 50 milliseconds later at most and in their order", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* setSecret(ada, "A", "x")
      const sql = yield* SqlClient.SqlClient
      const read = Effect.map(
        sql`SELECT metadata FROM audit_entries WHERE action = 'secret.read' ORDER BY seq`,
        (rows) => rows.map(({ metadata }) => (JSON.parse(String(metadata)) as { key: string }).key)
      )
      const names = Array.makeBy(450, (index) => `K${index}`)
      yield* writeBundle(ada, { set: Object.fromEntries(names.map((name) => [name, ""])) })
      for (const name of names) yield* readSecret(ada, name)
      assert.deepStrictEqual(yield* read, [], "not in the reader's own time")
      const readUntil = (count: number) =>
        read.pipe(
          Effect.zipLeft(Effect.promise(() => setTimeout(1))),
          Effect.repeat({ until: (found) => found.length >= count, times: 2_000 })
        )
      yield* TestClock.adjust("50 millis")
      assert.deepStrictEqual(yield* readUntil(450), names)
      yield* readSecret(ada, "A")
      yield* TestClock.adjust("50 millis")
      assert.deepStrictEqual((yield* readUntil(451)).at(-1), "A")
    }).pipe(onDatabase())
  )

  it.effect("are all there once the queue is flushed, those that wait for their batch too, in their order", () =>
    Effect.gen(function* () {
      const audit = yield* AuditLog
      for (let index = 0; index < 5; index++) {
        yield* audit.seen(system, { ...event, resource_id: String(index) })
        yield* Effect.repeatN(Effect.yieldNow(), index)
      }
      yield* audit.flush
      const rows = yield* (yield* SqlClient.SqlClient)`SELECT resource_id FROM audit_entries ORDER BY seq`
      assert.deepStrictEqual(
        rows.map(({ resource_id }) => resource_id),
        ["0", "1", "2", "3", "4"]
      )
    }).pipe(onDatabase())
  )

  // Interrupted just when it was handed an entry, the queue's worker used to lose it.
  for (const yields of [0, 1, 2, 3, 5, 20]) {
    it.effect(`are recorded when the server ends ${yields} turns after them`, () =>
      Effect.gen(function* () {
        const scope = yield* Scope.make()
        const audit = Context.get(yield* Layer.buildWithScope(Layer.fresh(AuditLog.Default), scope), AuditLog)
        yield* Effect.repeatN(Effect.yieldNow(), 5)
        yield* audit.seen(system, event)
        for (let turn = 0; turn < yields; turn++) yield* Effect.yieldNow()
        yield* Scope.close(scope, Exit.void)
        assert.strictEqual(yield* stored, 1)
      }).pipe(onDatabase())
    )
  }

  it.scoped("are recorded when the server ends, however many", () =>
    Effect.gen(function* () {
      const place = yield* freshPlace
      yield* Effect.provide(
        Effect.gen(function* () {
          const audit = yield* AuditLog
          for (let index = 0; index < 1_234; index++) yield* audit.seen(system, event)
        }),
        servicesIn(place)
      )
      assert.strictEqual(yield* Effect.provide(stored, servicesIn(place)), 1_234)
      yield* invariantsIn(place)
    })
  )

  it.effect("are written in the reader's own time rather than dropped when the queue is full", () =>
    Effect.gen(function* () {
      const audit = yield* AuditLog
      yield* Effect.repeatN(audit.seen(system, event), 10_000 - 1)
      assert.strictEqual(yield* stored, 0)
      yield* audit.seen(system, event)
      assert.strictEqual(yield* stored, 1)
      yield* audit.flush
      assert.strictEqual(yield* stored, 10_001)
    }).pipe(onDatabase())
  )
})

describe("an entry that cannot be written", () => {
  it.effect("fails no change and no read; it is counted, and the log goes on where it stood", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* setSecret(ada, "A", "before")
      const before = yield* entries()
      const counted = yield* failures
      const heal = yield* refusing({ table: "audit_entries" })
      assert.strictEqual((yield* setSecret(ada, "A", "during")).version, 2)
      yield* writeBundle(ada, { set: { B: "1", C: "2" } })
      assert.deepStrictEqual(yield* readSecret(ada, "A"), { version: 2, value: "during" })
      yield* readBundle(ada)
      yield* removeSecret(ada, "C")
      yield* newProject(ada, "api")
      yield* (yield* AuditLog).flush
      assert.strictEqual((yield* failures) - counted, 1 + 2 + 2 + 1 + 1)
      yield* heal
      assert.deepStrictEqual(yield* entries(), before)
      yield* setSecret(ada, "A", "after")
      const after = yield* entries()
      assert.deepStrictEqual(after.slice(0, -1), before)
      assert.deepInclude(after.at(-1), {
        seq: before.length + 1,
        metadata: { project: "webshop", env: "prod", key: "A", version: 3 }
      })
    }).pipe(onDatabase())
  )

  for (const table of ["audit_entries", "audit_heads"]) {
    it.effect(`because ${table} refuses it leaves no trace of itself`, () =>
      Effect.gen(function* () {
        const ada = yield* organization()
        for (const on of ["INSERT", "UPDATE"] as const) {
          if (table === "audit_entries" && on === "UPDATE") continue
          const heal = yield* refusing({ table, on: [on] })
          yield* setSecret(ada, "A", "x")
          yield* readSecret(ada, "A")
          yield* (yield* AuditLog).flush
          yield* heal
          yield* invariantsIn(yield* DatabasePlace)
        }
      }).pipe(onDatabase())
    )
  }

  it.effect.skipIf(isOnPostgres())(
    "because the whole transaction broke fails the change: nothing is answered unless it is stored",
    () =>
      Effect.gen(function* () {
        const ada = yield* organization()
        const db = yield* raw
        db.exec(`CREATE TRIGGER broken BEFORE INSERT ON audit_entries BEGIN SELECT RAISE(ROLLBACK, 'broken'); END`)
        assert.strictEqual(yield* outcome(setSecret(ada, "A", "x")), "defect")
        db.exec("DROP TRIGGER broken")
        assert.strictEqual(yield* outcome(readSecret(ada, "A")), "NotFound")
        assert.strictEqual((yield* setSecret(ada, "A", "x")).version, 1)
      }).pipe(onDatabase())
  )
})

describe("the chain", () => {
  it.effect("is HMAC-SHA256 over the link before and the canonical form, for ever the same", () =>
    Effect.gen(function* () {
      const { auditKey } = yield* Instance
      const entry = {
        id: "i",
        log: "l",
        seq: 1,
        org_id: null,
        actor_type: "user",
        actor_id: "a",
        actor_name: "n",
        action: "secret.set",
        resource_type: "secret",
        resource_id: null,
        ip_address: "::1",
        metadata: "{}",
        created_at: "t"
      }
      const form = '["coffer/audit-entry/1","i","l",1,null,"user","a","n","secret.set","secret",null,"::1","{}","t"]'
      const mac = (text: string) => createHmac("sha256", auditKey).update(text).digest("hex")
      assert.strictEqual(link(auditKey, genesis, entry, entry), mac(`${"0".repeat(64)}${form}`))
      const head = { log: "l", seq: 1, chain: "c", created_at: "t" }
      assert.strictEqual(headMac(auditKey, head), mac('["coffer/audit-head/1","l",1,"c","t"]'))
      for (const [name, field] of Object.entries(entry)) {
        const edited = { ...entry, [name]: typeof field === "number" ? 2 : `${field ?? ""}x` }
        assert.notStrictEqual(link(auditKey, genesis, edited, edited), link(auditKey, genesis, entry, entry), name)
      }
      assert.notStrictEqual(link(auditKey, "1".repeat(64), entry, entry), link(auditKey, genesis, entry, entry))
    }).pipe(onDatabase())
  )

  const damages: ReadonlyArray<readonly [what: string, ...statements: ReadonlyArray<string>]> = [
    ["an edited entry", "UPDATE audit_entries SET actor_name = 'eve' WHERE seq = 3"],
    ["an edited entry's metadata", `UPDATE audit_entries SET metadata = '{"key":"B","version":1}' WHERE seq = 3`],
    ["an edited entry's time", "UPDATE audit_entries SET created_at = created_at || '0' WHERE seq = 5"],
    ["an entry taken out of the middle", "DELETE FROM audit_entries WHERE seq = 3"],
    ["a cut tail", "DELETE FROM audit_entries WHERE seq = 5"],
    [
      "a cut tail with a head that was put back",
      "DELETE FROM audit_entries WHERE seq = 5",
      "UPDATE audit_indexed SET seq = 4",
      "DELETE FROM audit_postings WHERE position NOT IN (SELECT position FROM audit_entries)",
      `UPDATE audit_place_counters AS k SET entries = (SELECT count(*) FROM audit_postings o WHERE o.run = k.id)`,
      `UPDATE audit_heads SET seq = 4, chain = (SELECT chain FROM audit_entries WHERE seq = 4),
          created_at = (SELECT created_at FROM audit_entries WHERE seq = 4)`
    ],
    [
      "two entries in each other's place",
      "UPDATE audit_entries SET seq = -seq WHERE seq IN (3, 4)",
      `UPDATE audit_entries SET seq = CASE seq WHEN -3 THEN 4 ELSE 3 END WHERE seq < 0`
    ],
    ["a log without its head", "DELETE FROM audit_heads"],
    ["a counter that was changed", "UPDATE audit_place_counters SET entries = entries + 1 WHERE action = 'secret.set'"]
  ]
  for (const [what, ...statements] of damages) {
    it.effect(`tells of ${what}`, () =>
      Effect.gen(function* () {
        const ada = yield* organization()
        yield* Effect.repeatN(setSecret(ada, "A", "x"), 2)
        const place = yield* DatabasePlace
        yield* (yield* AuditIndex).catchUpAll
        yield* invariantsIn(place)
        yield* openToChanges
        const { unsafe } = yield* SqlClient.SqlClient
        yield* Effect.forEach(statements, (statement) => unsafe(statement))
        const exit = yield* Effect.exit(invariantsIn(place))
        assert.isTrue(Exit.isFailure(exit))
      }).pipe(onDamagedDatabase())
    )
  }
})

describe("changes at the same time", () => {
  it.effect("each have their entry, without gaps", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      const place = yield* Effect.flatMap(Access, (access) => access.org(orgPath(), "project.create")).pipe(
        asActor(ada)
      )
      const projects = yield* Projects
      yield* Effect.all(
        Array.makeBy(30, (index) =>
          index % 3 === 0
            ? Effect.asVoid(transaction(projects.create(place, ProjectName.make(`p${index}`))))
            : index % 3 === 1
              ? Effect.asVoid(setSecret(ada, "A", "x"))
              : Effect.asVoid(outcome(readSecret(ada, "A")))
        ),
        { concurrency: "unbounded" }
      )
      const all = yield* entries()
      assert.strictEqual(all.filter(({ action }) => action === "project.create").length, 11)
      assert.strictEqual(all.filter(({ action }) => action === "secret.set").length, 10)
      assert.deepStrictEqual(
        all.map(({ seq }) => seq),
        Array.range(1, all.length)
      )
    }).pipe(onDatabase())
  )
})
