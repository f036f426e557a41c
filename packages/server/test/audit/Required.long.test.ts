import type { UserActor } from "@coffer/domain/access/Actor"
import { SqlClient } from "@effect/sql"
import { Access } from "@coffer/server/access/Access"
import { AuditLog } from "@coffer/server/audit/AuditLog"
import { Members } from "@coffer/server/directory/members/Members"
import { assert, describe, it } from "@effect/vitest"
import Sqlite from "better-sqlite3"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { afterAll } from "vitest"
import { assertRefused, cleanUp, Program } from "../support/Program.js"
import {
  account,
  asActor,
  DbPath,
  entries,
  failing,
  invariants,
  member,
  newProject,
  onDatabase,
  organization,
  orgPath,
  outcome,
  person,
  raw,
  readBundle,
  readSecret,
  removeSecret,
  type Services,
  setSecret,
  transaction,
  writeBundle
} from "../support/Services.js"

const required = { SERVICE_AUDIT_REQUIRED: "1" }
const canary = "canary-4711"

afterAll(() => {
  cleanUp()
})

const world = Effect.gen(function* () {
  const ada = yield* organization()
  yield* setSecret(ada, "A", canary)
  return ada
})

/** How many reads are on record, seen from beside the server: committed. */
const recordedReads = Effect.map(raw, (db) =>
  db.prepare<[], number>("SELECT count(*) FROM audit_entries WHERE action = 'secret.read'").pluck().get()
)

const reads: Readonly<Record<string, (actor: UserActor) => Effect.Effect<unknown, unknown, Services>>> = {
  "a secret": (actor) => readSecret(actor, "A"),
  "an earlier version": (actor) => readSecret(actor, "A", { version: 1 }),
  "a bundle": (actor) => readBundle(actor)
}

describe("where the operator requires the audit", () => {
  for (const [what, read] of Object.entries(reads)) {
    it.effect(`a read of ${what} is answered when its entry is committed, and not before`, () =>
      Effect.gen(function* () {
        const ada = yield* world
        const [held, release] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const writer = yield* transaction(
          Effect.zipRight(Deferred.succeed(held, undefined), Deferred.await(release))
        ).pipe(Effect.forkScoped)
        yield* Deferred.await(held)
        const reader = yield* Effect.fork(read(ada))
        yield* Effect.repeatN(Effect.yieldNow(), 100)
        assert.isNull(reader.unsafePoll(), "it waits while the database is written to")
        assert.strictEqual(yield* recordedReads, 0)
        yield* Deferred.succeed(release, undefined)
        yield* Fiber.join(writer)
        assert.include(JSON.stringify(yield* Fiber.join(reader)), canary)
        assert.strictEqual(yield* recordedReads, 1, "no batch is waited for")
      }).pipe(onDatabase(required))
    )

    it.effect(`a read of ${what} fails whichever statement of its entry fails, and leaves nothing`, () =>
      Effect.gen(function* () {
        const ada = yield* world
        let statement = 1
        for (; ; statement++) {
          const { exit, hit } = yield* failing(statement, read(ada))
          yield* invariants(yield* DbPath)
          if (Exit.isSuccess(exit)) {
            assert.isFalse(hit)
            break
          }
          assert.isTrue(hit)
          assert.strictEqual(yield* recordedReads, 0)
        }
        assert.isAbove(statement, 3, "the head, the entry and the head again")
        assert.strictEqual(yield* recordedReads, 1)
      }).pipe(onDatabase(required))
    )
  }

  const changes: Readonly<Record<string, (actor: UserActor) => Effect.Effect<unknown, unknown, Services>>> = {
    "a set": (actor) => setSecret(actor, "A", "again"),
    "a removal": (actor) => removeSecret(actor, "A"),
    "a bundle": (actor) => writeBundle(actor, { set: { A: "again", B: "new" }, delete: ["C"] }),
    "a new project": (actor) => newProject(actor, "api")
  }
  for (const [what, change] of Object.entries(changes)) {
    it.effect(`${what} fails whichever statement of it fails, and leaves nothing`, () =>
      Effect.gen(function* () {
        const ada = yield* world
        yield* setSecret(ada, "C", canary)
        const before = { entries: yield* entries(), secrets: (yield* readBundle(ada)).data }
        yield* (yield* AuditLog).flush
        const recorded = (yield* entries()).length
        for (let statement = 1; ; statement++) {
          const { exit, hit } = yield* failing(statement, change(ada))
          yield* invariants(yield* DbPath)
          if (Exit.isSuccess(exit)) {
            assert.isFalse(hit)
            break
          }
          assert.isTrue(hit)
          assert.strictEqual((yield* entries()).length, recorded)
        }
        assert.isAbove((yield* entries()).length, recorded)
        assert.strictEqual(before.secrets?.length, 2)
      }).pipe(onDatabase(required))
    )
  }

  it.effect("a change fails whose entry alone cannot be written, and others in its commit do not", () =>
    Effect.gen(function* () {
      const ada = yield* world
      const { etag } = yield* readBundle(ada)
      const sql = yield* SqlClient.SqlClient
      yield* sql`CREATE TRIGGER broken BEFORE INSERT ON audit_entries WHEN NEW.metadata LIKE '%"A"%'
        BEGIN SELECT RAISE(ABORT, 'broken'); END`
      assert.strictEqual(yield* outcome(readSecret(ada, "A")), "defect")
      assert.strictEqual((yield* readBundle(ada, { ifNoneMatch: etag })).data, undefined)
      const outcomes = yield* Effect.forEach(["B", "A", "C"], (name) => outcome(setSecret(ada, name, "again")), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(outcomes, ["success", "defect", "success"])
      // A caller that may not read is told nothing either way.
      const eve = yield* person("eve@example.com")
      assert.strictEqual(yield* outcome(readSecret(eve, "A")), "NotFound")
      yield* sql`DROP TRIGGER broken`
      assert.deepStrictEqual(yield* readSecret(ada, "A"), { version: 1, value: canary })
      assert.strictEqual((yield* entries()).at(-1)?.action, "secret.read")
    }).pipe(onDatabase(required))
  )

  for (const [how, environment, broken] of [
    ["fails whose entry cannot be written", required, "defect"],
    ["stays one where it is not required", {}, "Forbidden"]
  ] as const) {
    it.effect(`a refusal ${how}`, () =>
      Effect.gen(function* () {
        const ada = yield* world
        const [dev, admin] = [yield* member("dev@example.com", "developer"), yield* member("adm@example.com", "admin")]
        const bot = yield* account("bot")
        const access = yield* Access
        const members = yield* Members
        const place = yield* access.org(orgPath(), "member.remove").pipe(asActor(admin))
        const refusals: Readonly<Record<string, Effect.Effect<unknown, { readonly _tag: string }, Services>>> = {
          "at a place": readSecret(dev, "A"),
          "by a rule about what is there": transaction(members.remove(place, ada.id)),
          "of what concerns the whole server": access.serverPlace("backup.create").pipe(asActor(ada)),
          "of a new organization": access.founder().pipe(asActor(bot))
        }
        const sql = yield* SqlClient.SqlClient
        for (const [what, refusal] of Object.entries(refusals)) {
          assert.strictEqual(yield* outcome(refusal), "Forbidden", what)
          yield* sql`CREATE TRIGGER broken BEFORE INSERT ON audit_entries BEGIN SELECT RAISE(ABORT, 'broken'); END`
          assert.strictEqual(yield* outcome(refusal), broken, what)
          yield* sql`DROP TRIGGER broken`
        }
      }).pipe(Effect.provide(Members.Default), onDatabase(environment))
    )
  }

  it.live("the caller is told INTERNAL_ERROR, and no value; where it is not required, the value", () =>
    Effect.promise(async () => {
      const program = await Program.start(required)
      const token = await program.login("ada@example.com")
      const env = "/api/orgs/acme/projects/webshop/envs/prod"
      const call = (method: string, path: string, body?: object) => program.call(method, path, { token, body })
      await call("POST", "/api/orgs", { name: "acme" })
      await call("POST", "/api/orgs/acme/projects", { name: "webshop" })
      await call("PUT", `${env}/secrets/A`, { value: canary })
      const paths = [`${env}/secrets/A`, `${env}/secrets/A?version=1`, `${env}/bundle`, `${env}/bundle?keys=A`]
      const damage = (statement: string) => {
        new Sqlite(program.file()).exec(statement).close()
      }

      for (const path of paths) assert.include((await call("GET", path)).text, canary)
      assertRefused(await call("POST", "/api/backups"), 403, "FORBIDDEN")
      damage("CREATE TRIGGER broken BEFORE INSERT ON audit_entries BEGIN SELECT RAISE(ABORT, 'broken'); END")
      for (const path of paths) {
        const answer = await call("GET", path)
        assertRefused(answer, 500, "INTERNAL_ERROR")
        assert.notInclude(answer.text, "canary")
        assert.notInclude(JSON.stringify([...answer.headers]), "canary")
      }
      assertRefused(await call("POST", "/api/backups"), 500, "INTERNAL_ERROR")
      assert.strictEqual((await call("GET", `${env}/secrets`)).status, 200)
      assertRefused(await call("PUT", `${env}/secrets/A`, { value: `${canary}-2` }), 500, "INTERNAL_ERROR")
      assert.match(program.log, /audit entries could not be written/)
      assert.notInclude(program.log, "canary")
      await program.stop()
      damage("DROP TRIGGER broken")

      const lenient = await Program.start({}, program.folder)
      damage("CREATE TRIGGER broken BEFORE INSERT ON audit_entries BEGIN SELECT RAISE(ABORT, 'broken'); END")
      for (const path of [`${env}/secrets/A`, `${env}/bundle`]) {
        assert.include((await lenient.call("GET", path, { token })).text, canary)
      }
      await lenient.stop()
      damage("DROP TRIGGER broken")
      await Effect.runPromise(invariants(program.file(), "c0ffee".padEnd(64, "0")))
    })
  )
})
