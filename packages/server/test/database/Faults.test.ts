import type { UserActor } from "@coffer/domain/Actor"
import { EnvName, OrgName, ProjectName } from "@coffer/domain/Names"
import { Access } from "@coffer/server/access/Access"
import { Login } from "@coffer/server/auth/Login"
import { Sessions } from "@coffer/server/auth/Sessions"
import { transaction } from "@coffer/server/database/Writer"
import { Environments } from "@coffer/server/environments/Environments"
import { Organizations } from "@coffer/server/organizations/Organizations"
import { Projects } from "@coffer/server/projects/Projects"
import { assert, describe, it } from "@effect/vitest"
import type Sqlite from "better-sqlite3"
import { Effect, Exit, Redacted } from "effect"
import {
  asActor,
  DbPath,
  email,
  enter,
  envPath,
  failing,
  invariants,
  newProject,
  onDatabase,
  organization,
  orgPath,
  Outbox,
  projectPath,
  raw,
  rawAt,
  removeSecret,
  type Services,
  setSecret,
  writeBundle
} from "../support/Services.js"

const world = Effect.gen(function* () {
  const ada = yield* organization()
  yield* writeBundle(ada, { set: { A: "1", B: "2", C: "3" } })
  yield* setSecret(ada, "A", "one more")
  return ada
})

/** Every way in which the server changes something, each a fresh call each time that it is run. */
const changes: Readonly<Record<string, (ada: UserActor) => Effect.Effect<unknown, unknown, Services>>> = {
  "setting a new secret": (ada) => setSecret(ada, "NEW", "new"),
  "setting a secret again": (ada) => setSecret(ada, "A", "again"),
  "removing a secret": (ada) => removeSecret(ada, "B"),
  "writing a bundle": (ada) => writeBundle(ada, { set: { A: "changed", NEW: "new" }, delete: ["C"] }),
  "making an organization": (ada) => Effect.flatMap(Organizations, ({ create }) => create(ada, OrgName.make("second"))),
  "renaming an organization": (ada) =>
    Effect.gen(function* () {
      const place = yield* (yield* Access).org(orgPath(), "org.update").pipe(asActor(ada))
      yield* (yield* Organizations).rename(place, OrgName.make("renamed"))
    }),
  "removing an organization": (ada) =>
    Effect.gen(function* () {
      const place = yield* (yield* Access).org(orgPath(), "org.delete").pipe(asActor(ada))
      yield* (yield* Organizations).remove(place)
    }),
  "making a project": (ada) => newProject(ada, "api"),
  "renaming a project": (ada) =>
    Effect.gen(function* () {
      const place = yield* (yield* Access).project(projectPath(), "project.update").pipe(asActor(ada))
      yield* (yield* Projects).rename(place, ProjectName.make("renamed"))
    }),
  "removing a project": (ada) =>
    Effect.gen(function* () {
      const place = yield* (yield* Access).project(projectPath(), "project.delete").pipe(asActor(ada))
      yield* (yield* Projects).remove(place)
    }),
  "making an environment": (ada) =>
    Effect.gen(function* () {
      const place = yield* (yield* Access).project(projectPath(), "env.create").pipe(asActor(ada))
      yield* (yield* Environments).create(place, EnvName.make("qa"))
    }),
  "removing an environment": (ada) =>
    Effect.gen(function* () {
      yield* (yield* Environments).remove(yield* enter(ada, "env.delete", envPath("dev")))
    }),
  "asking for a login code": () => Effect.flatMap(Login, ({ request }) => request(email("new@example.com"))),
  "ending all sessions": (ada) => Effect.flatMap(Sessions, ({ endAll }) => endAll(ada))
}

/** What all tables hold but the audit log, which may lack an entry that could not be written. */
const contents = (db: Sqlite.Database) =>
  db
    .prepare<[], { name: string }>("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'audit_%'")
    .all()
    .map(({ name }) => [name, db.prepare(`SELECT * FROM ${name}`).all()])

const auditEntries = (db: Sqlite.Database) =>
  db.prepare<[], number>("SELECT count(*) FROM audit_entries").pluck().get()!

describe("a statement that fails, whichever it is,", () => {
  for (const [what, change] of Object.entries(changes)) {
    it.effect(`of ${what} leaves all of it or nothing`, () =>
      Effect.gen(function* () {
        const path = yield* DbPath
        const ada = yield* world
        yield* Effect.flatMap(Sessions, ({ start }) => transaction(start(ada.id)))
        const db = yield* raw
        let [statement, failed, unaudited] = [1, 0, 0]
        for (; ; statement++) {
          const [before, entriesBefore] = [contents(db), auditEntries(db)]
          const { exit, hit } = yield* failing(statement, change(ada))
          yield* invariants(path)
          if (Exit.isFailure(exit)) {
            failed++
            assert.isTrue(hit, "it fails for no other reason")
            assert.deepStrictEqual(contents(db), before, `statement ${statement}: nothing is changed`)
            assert.strictEqual(auditEntries(db), entriesBefore, "nor recorded")
            continue
          }
          assert.notDeepEqual(contents(db), before, "what succeeds is done")
          if (!hit) {
            assert.isAbove(auditEntries(db), entriesBefore, "and recorded")
            break
          }
          // The audit entry's own statement failed: the change went through without it. Once is enough.
          unaudited++
          assert.strictEqual(auditEntries(db), entriesBefore)
          break
        }
        assert.isAbove(failed, 0)
        assert.isTrue(unaudited === 1, "an audit entry alone never fails a change")
        assert.strictEqual(statement, failed + 1, "all before it do")
      }).pipe(onDatabase())
    )
  }

  it.effect("of verifying a code leaves no session without its user, nor a code that can be used again", () =>
    Effect.gen(function* () {
      const path = yield* DbPath
      const login = yield* Login
      const outbox = yield* Outbox
      const db = yield* raw
      const count = (table: string) => db.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get()!
      let failed = 0
      for (let statement = 1; ; statement++) {
        const address = email(`user-${statement}@example.com`)
        yield* login.request(address)
        const { code } = outbox.at(-1)!
        const [users, sessions] = [count("users"), count("sessions")]
        const { exit, hit } = yield* failing(statement, login.verify(address, code))
        yield* invariants(path)
        if (Exit.isSuccess(exit)) {
          assert.strictEqual(count("sessions"), sessions + 1)
          assert.isTrue(hit, "the audit entry's statements come last, and fail nothing")
          break
        }
        failed++
        assert.deepStrictEqual([count("users"), count("sessions")], [users, sessions], `statement ${statement}`)
        const claimed = db.prepare("SELECT state FROM login_codes WHERE email = ?").pluck().get(address)
        const again = yield* Effect.exit(login.verify(address, code))
        assert.strictEqual(Exit.isSuccess(again), claimed === "pending", "a code that was taken away stays so")
      }
      assert.isAbove(failed, 5)
      assert.isString(Redacted.value(outbox.at(-1)!.code))
    }).pipe(onDatabase())
  )
})

describe("a write that the database itself refuses, whichever it is,", () => {
  const tables: ReadonlyArray<readonly [table: string, on: string, change: keyof typeof changes]> = [
    ["environments", "UPDATE", "setting a new secret"],
    ["secrets", "INSERT", "setting a new secret"],
    ["secrets", "UPDATE", "setting a secret again"],
    ["secret_versions", "INSERT", "setting a secret again"],
    ["secrets", "UPDATE", "removing a secret"],
    ["environments", "UPDATE", "removing a secret"],
    ["secret_versions", "INSERT", "writing a bundle"],
    ["secrets", "INSERT", "writing a bundle"],
    ["environments", "UPDATE", "writing a bundle"],
    ["organizations", "UPDATE", "making a project"],
    ["projects", "INSERT", "making a project"],
    ["environments", "INSERT", "making a project"],
    ["members", "INSERT", "making an organization"]
  ]

  for (const [table, on, what] of tables) {
    it.effect(`an ${on} of ${table} while ${what}, leaves nothing`, () =>
      Effect.gen(function* () {
        const path = yield* DbPath
        const ada = yield* world
        // Lets the first writes of the table pass, then the first but one, and so on.
        const db = yield* rawAt(path)
        for (let nth = 1; ; nth++) {
          const [before, entriesBefore] = [contents(db), auditEntries(db)]
          db.exec(`
            CREATE TABLE written (n INTEGER);
            CREATE TRIGGER broken BEFORE ${on} ON ${table} BEGIN
              INSERT INTO written VALUES (1);
              SELECT RAISE(ABORT, 'broken') WHERE (SELECT count(*) FROM written) = ${nth};
            END`)
          const exit = yield* Effect.exit(changes[what]!(ada))
          db.exec("DROP TRIGGER broken; DROP TABLE written")
          yield* invariants(path)
          if (Exit.isSuccess(exit)) {
            assert.isAbove(nth, 1, "the trigger was met")
            break
          }
          assert.deepStrictEqual(contents(db), before)
          assert.strictEqual(auditEntries(db), entriesBefore)
        }
      }).pipe(onDatabase())
    )
  }
})
