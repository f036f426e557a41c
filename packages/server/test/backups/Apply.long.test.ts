import { copyFileSync, linkSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { applyRestore } from "@coffer/server/operations/backups/Apply"
import { Instance } from "@coffer/server/keys/Instance"
import { assert, describe, it } from "@effect/vitest"
import Sqlite from "better-sqlite3"
import { Console, Effect } from "effect"
import {
  configAt,
  entries,
  freshPath,
  invariants,
  organization,
  rawAt,
  readSecret,
  servicesAt,
  setSecret,
  uuid
} from "../support/Services.js"

const otherKey = "ab".repeat(32)

/** Captures the output of a command, by stream. */
const listening = () => {
  const said: { readonly out: Array<string>; readonly err: Array<string> } = { out: [], err: [] }
  const hear = (to: Array<string>) => (line: unknown) => Effect.sync(() => void to.push(String(line)))
  return Effect.map(Console.consoleWith(Effect.succeed), (console) => ({
    said,
    console: { ...console, log: hear(said.out), error: hear(said.err) }
  }))
}

const apply = (file: string, path: string, environment: Readonly<Record<string, string>> = {}) =>
  Effect.gen(function* () {
    const { console, said } = yield* listening()
    yield* applyRestore(file).pipe(Effect.provide(configAt(path, environment)), Effect.withConsole(console))
    return said
  })

/** A closed copy of a database, as a restore leaves one. */
const copyOf = (path: string, name = "copy.db") =>
  Effect.sync(() => {
    const file = join(dirname(path), name)
    const source = new Sqlite(path)
    source.prepare("VACUUM INTO ?").run(file)
    source.close()
    return file
  })

const at = <A, E, R>(path: string, effect: Effect.Effect<A, E, R>) => Effect.provide(effect, servicesAt(path))

const epochOf = (path: string) =>
  at(
    path,
    Effect.map(Instance, ({ epoch }) => epoch)
  )

const query = (path: string, statement: string) =>
  Effect.scoped(Effect.map(rawAt(path, { readonly: true }), (database) => database.prepare(statement).all()))

/** A database with a secret, a session, a pending code and a lockout's failure. */
const lived = Effect.gen(function* () {
  const path = yield* freshPath
  const owner = yield* at(
    path,
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* setSecret(ada, "KEY", "as it was")
      return ada
    })
  )
  const database = yield* rawAt(path)
  const stamp = "2026-01-01T00:00:00.000Z"
  database
    .prepare("INSERT INTO sessions (id, user_id, token_hash, created_at, last_used_at) VALUES (?, ?, ?, ?, ?)")
    .run(uuid(), owner.id, "0".repeat(64), stamp, stamp)
  database
    .prepare("INSERT INTO login_codes (id, email, mac, state, created_at, expires_at) VALUES (?, ?, x'00', ?, ?, ?)")
    .run(uuid(), "ada@example.com", "pending", stamp, "2099-01-01T00:00:00.000Z")
  database.close()
  return { path, owner }
})

const addKey = (path: string, account: string, hint: string, expires: string | null = null) =>
  Effect.scoped(
    Effect.map(rawAt(path), (database) => {
      const org = database.prepare("SELECT id FROM organizations").pluck().get()
      const id = uuid()
      const stamp = "2026-01-01T00:00:00.000Z"
      database
        .prepare(
          `INSERT INTO service_accounts (id, org_id, name, reveal, created_by, created_at, updated_at)
            VALUES (?, ?, ?, 1, 'ada@example.com', ?, ?)`
        )
        .run(id, org, account, stamp, stamp)
      database
        .prepare(
          "INSERT INTO api_keys (id, service_account_id, token_hash, hint, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)"
        )
        .run(uuid(), id, `hash of ${account}`, hint, stamp, expires)
    })
  )

describe("restore --apply", () => {
  it.live("puts the file in the database's place, ends sessions and codes, and keeps what it replaces", () =>
    Effect.gen(function* () {
      const { owner, path } = yield* lived
      const file = yield* copyOf(path)
      yield* at(path, setSecret(owner, "KEY", "as it is"))
      const before = yield* epochOf(path)
      const { err, out } = yield* apply(file, path)

      const beside = readdirSync(dirname(path)).sort()
      const replaced = beside.find((name) => name.startsWith("service.db.replaced-")) ?? ""
      assert.deepStrictEqual(beside, ["copy.db", "service.db", "service.db.lock", replaced].sort())
      assert.strictEqual(statSync(path).mode & 0o777, 0o600)
      yield* invariants(join(dirname(path), replaced))
      assert.strictEqual((yield* at(join(dirname(path), replaced), readSecret(owner, "KEY"))).value, "as it is")

      assert.strictEqual((yield* at(path, readSecret(owner, "KEY"))).value, "as it was")
      yield* invariants(path)
      const after = yield* epochOf(path)
      assert.notStrictEqual(after, before)
      assert.deepStrictEqual(yield* query(path, "SELECT id FROM sessions"), [])
      assert.deepStrictEqual(yield* query(path, "SELECT state FROM login_codes"), [{ state: "replaced" }])
      assert.deepStrictEqual(err, [])
      assert.match(out.join("\n"), /is now the database of .*copy\.db/)
      assert.include(out.join("\n"), replaced)
      assert.include(out.join("\n"), "1 sessions and 1 pending login codes were ended")

      const [entry] = (yield* at(path, entries("system"))).slice(-1)
      assert.deepStrictEqual(
        [entry?.action, entry?.actor_type, entry?.actor, entry?.metadata],
        ["backup.restore", "system", "coffer-server restore", { file: "copy.db", sessions_ended: 1, codes_ended: 1 }]
      )
    }).pipe(Effect.scoped)
  )

  it.live("is taken back by the command that it prints", () =>
    Effect.gen(function* () {
      const { owner, path } = yield* lived
      const file = yield* copyOf(path)
      yield* at(path, setSecret(owner, "KEY", "as it is"))
      const { out } = yield* apply(file, path)
      assert.strictEqual((yield* at(path, readSecret(owner, "KEY"))).value, "as it was")
      yield* at(path, setSecret(owner, "OTHER", "written after the wrong restore"))

      const [, command, replaced = ""] =
        /to undo this, with the server stopped: (coffer-server restore --apply (.*))$/m.exec(out.join("\n")) ?? []
      assert.isDefined(command)
      yield* apply(replaced, path)
      assert.strictEqual((yield* at(path, readSecret(owner, "KEY"))).value, "as it is")
      yield* invariants(path)
      // The retention takes the database for as old as its newest entry, and spares every backup made since.
      const [mark] = yield* query(path, "SELECT backup_id, backup_created_at < applied_at AS older FROM restores")
      assert.deepStrictEqual(mark, { backup_id: null, older: 1 })
      // The writes between the two restores are kept, too.
      const kept = readdirSync(dirname(path)).filter((name) => name.includes(".replaced-"))
      assert.strictEqual(kept.length, 2)
    }).pipe(Effect.scoped)
  )

  it.live("lists the API keys that it brings back to life, and those alone", () =>
    Effect.gen(function* () {
      const { path } = yield* lived
      yield* addKey(path, "still-good", "aaaa")
      yield* addKey(path, "revoked-since", "bbbb")
      yield* addKey(path, "rotated-since", "cccc")
      yield* addKey(path, "expired-anyway", "dddd", "2026-01-02T00:00:00.000Z")
      const file = yield* copyOf(path)
      yield* Effect.scoped(
        Effect.map(rawAt(path), (database) => {
          database.exec("UPDATE service_accounts SET removed_at = '2026-02-01' WHERE name = 'revoked-since'")
          database.exec("UPDATE api_keys SET expires_at = '2026-02-01' WHERE hint = 'cccc'")
        })
      )
      const { err, out } = yield* apply(file, path)
      assert.match(err[0] ?? "", /valid again/)
      assert.deepStrictEqual(err.slice(1), ["  acme: revoked-since (…bbbb)", "  acme: rotated-since (…cccc)"])
      assert.notInclude([...err, ...out].join("\n"), "hash of")
      // Once more: by now they are good in what is replaced, too.
      assert.deepStrictEqual((yield* apply(file, path)).err, [])
    }).pipe(Effect.scoped)
  )

  it.live("works where there is no database, and where it is damaged", () =>
    Effect.gen(function* () {
      const { owner, path } = yield* lived
      yield* addKey(path, "ci", "aaaa")
      const file = yield* copyOf(path)
      const fresh = yield* freshPath
      const { err, out } = yield* apply(file, fresh)
      assert.strictEqual((yield* at(fresh, readSecret(owner, "KEY"))).value, "as it was")
      assert.deepStrictEqual(err.slice(1), ["  acme: ci (…aaaa)"])
      assert.notMatch(out.join("\n"), /replaces/)

      writeFileSync(path, "no database any more, by a bad disk")
      writeFileSync(`${path}-wal`, "its log")
      const damaged = yield* apply(file, path)
      assert.deepStrictEqual(damaged.err.slice(1), ["  acme: ci (…aaaa)"])
      assert.strictEqual((yield* at(path, readSecret(owner, "KEY"))).value, "as it was")
      yield* invariants(path)
      const kept = readdirSync(dirname(path)).filter((name) => name.includes(".replaced-"))
      assert.include(
        kept.map((name) => readFileSync(join(dirname(path), name), "utf8")),
        "no database any more, by a bad disk"
      )
    }).pipe(Effect.scoped)
  )

  it.live("is refused while a server runs, and for what is no sound database of this key; nothing is changed", () =>
    Effect.gen(function* () {
      const { owner, path } = yield* lived
      const folder = dirname(path)
      const file = yield* copyOf(path)
      const refused = (name: string, sentence: RegExp, environment: Readonly<Record<string, string>> = {}) =>
        Effect.gen(function* () {
          const before = readdirSync(folder).sort()
          const error = yield* Effect.flip(apply(name, path, environment))
          assert.strictEqual(error._tag, "StartupError")
          assert.match(error.message, sentence)
          assert.deepStrictEqual(readdirSync(folder).sort(), before)
        })

      yield* at(path, refused(file, /in use by another coffer-server/))
      yield* refused(join(folder, "absent.db"), /does not exist/)
      yield* refused(folder, /is not a regular file/)
      yield* refused(path, /is the database itself/)
      linkSync(path, join(folder, "hard.db"))
      yield* refused(join(folder, "hard.db"), /is the database itself/)
      symlinkSync(file, join(folder, "soft.db"))
      yield* refused(join(folder, "soft.db"), /is not a regular file/)
      writeFileSync(join(folder, "text.db"), "text ".repeat(1000))
      yield* refused(join(folder, "text.db"), /is not a Coffer database/)
      writeFileSync(join(folder, "empty.db"), "")
      yield* refused(join(folder, "empty.db"), /is not a Coffer database/)
      new Sqlite(join(folder, "foreign.db")).exec("CREATE TABLE t (a)").close()
      yield* refused(join(folder, "foreign.db"), /is not a Coffer database/)
      copyFileSync(file, join(folder, "logged.db"))
      writeFileSync(join(folder, "logged.db-wal"), "a log")
      yield* refused(join(folder, "logged.db"), /write-ahead log/)
      copyFileSync(file, join(folder, "newer.db"))
      new Sqlite(join(folder, "newer.db"))
        .exec("INSERT INTO effect_sql_migrations (migration_id, name) VALUES (9999, 'future')")
        .close()
      yield* refused(join(folder, "newer.db"), /newer than this program/)
      yield* refused(file, /was written with another key/, { SERVICE_MASTER_KEY: otherKey })

      assert.strictEqual((yield* at(path, readSecret(owner, "KEY"))).value, "as it was")
      assert.strictEqual((yield* query(path, "SELECT id FROM sessions")).length, 1)
      yield* invariants(path)
    }).pipe(Effect.scoped)
  )
})
