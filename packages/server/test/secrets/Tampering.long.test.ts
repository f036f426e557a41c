import type { Actor } from "@coffer/domain/access/Actor"
import type { EnvPath } from "@coffer/domain/api/Paths"
import { History } from "@coffer/server/secrets/services/History"
import { nextTick } from "@coffer/server/base/EventLoop"
import { assert, describe, it } from "@effect/vitest"
import type Sqlite from "better-sqlite3"
import { Effect } from "effect"
import { inspect } from "node:util"
import { destroying } from "../history/Support.js"
import {
  enter,
  entries,
  envPath,
  key,
  listSecrets,
  newProject,
  onDamagedDatabase,
  onDatabase,
  organization,
  outcome,
  raw,
  readBundle,
  readSecret as readSecretNow,
  removeSecret,
  setSecret,
  writeBundle
} from "../support/Services.js"

const listVersionsOf = (history: History, actor: Actor, name: string) =>
  Effect.flatMap(enter(actor, "secret.list"), (place) => history.versions(place, key(name), {}))

const canary = "canary-4711"

/** In a turn of its own: what is not written by the server itself is seen from the next one on. */
const readSecret = (...read: Parameters<typeof readSecretNow>) => Effect.zipRight(nextTick, readSecretNow(...read))

/** Asserts that a secret does not open, neither alone nor in its bundle, and that nothing of a value is answered. */
const refuses = (actor: Actor, name: string, options: { readonly version?: number; readonly path?: EnvPath } = {}) =>
  Effect.gen(function* () {
    const reads = Effect.map(
      entries(options.path?.org_name ?? "acme"),
      (all) => all.filter(({ action }) => action === "secret.read").length
    )
    const before = yield* reads
    const attempts = [
      readSecret(actor, name, options),
      ...(options.version === undefined
        ? [
            readBundle(actor, options.path === undefined ? {} : { path: options.path }),
            readBundle(actor, { keys: [name], ...(options.path && { path: options.path }) })
          ]
        : [])
    ]
    for (const attempt of attempts) {
      const error = yield* Effect.flip(attempt as Effect.Effect<unknown, unknown>)
      assert.propertyVal(error, "code", "DECRYPTION_FAILED")
      assert.notInclude(inspect(error, { depth: 9, showHidden: true }), "canary")
    }
    assert.strictEqual(yield* reads, before, "what was not read is not recorded as read")
  })

const columns = ["format", "kek_id", "wrapped_key", "ciphertext"] as const
type Sealed = Record<(typeof columns)[number], unknown>

const sealedOf = (db: Sqlite.Database, where: string) =>
  db.prepare<[], Sealed & { secret_id: string; version: number }>(
    `SELECT v.* FROM secret_versions v JOIN secrets s ON s.id = v.secret_id JOIN environments e ON e.id = s.env_id
      JOIN projects p ON p.id = e.project_id JOIN organizations o ON o.id = p.org_id WHERE ${where}`
  )

/** Puts what is sealed in one row in the place of what is sealed in another, and the other way round. */
const swap = (
  db: Sqlite.Database,
  a: string,
  b: string,
  swapped: ReadonlyArray<(typeof columns)[number]> = columns
) => {
  const [first, second] = [sealedOf(db, a).get(), sealedOf(db, b).get()]
  assert.isDefined(first)
  assert.isDefined(second)
  for (const [to, from] of [
    [first, second],
    [second, first]
  ] as const) {
    db.prepare(
      `UPDATE secret_versions SET ${swapped.map((column) => `${column} = @${column}`).join(", ")}
        WHERE secret_id = @secret_id AND version = @version`
    ).run({ ...from, secret_id: to.secret_id, version: to.version })
  }
}

/** Two organizations of one owner, alike in every name, with the same keys and values. */
const world = Effect.gen(function* () {
  const ada = yield* organization("acme")
  yield* organization("other")
  yield* newProject(ada, "api")
  for (const path of [envPath(), envPath("dev"), envPath("prod", "api"), envPath("prod", "webshop", "other")]) {
    for (const name of ["A", "B"]) {
      yield* setSecret(ada, name, `${canary}-1`, { path })
      yield* setSecret(ada, name, `${canary}-2`, { path })
    }
  }
  return ada
})

const at = (org: string, project: string, env: string, key: string, version: number) =>
  `o.name = '${org}' AND p.name = '${project}' AND e.name = '${env}' AND s.key = '${key}' AND v.version = ${version}`

const here = at("acme", "webshop", "prod", "A", 2)

describe("a stored row swapped with one", () => {
  const moves: ReadonlyArray<readonly [what: string, there: string, key: string, path: EnvPath, version?: number]> = [
    ["of another key", at("acme", "webshop", "prod", "B", 2), "B", envPath()],
    ["of another environment", at("acme", "webshop", "dev", "A", 2), "A", envPath("dev")],
    ["of another project", at("acme", "api", "prod", "A", 2), "A", envPath("prod", "api")],
    ["of another tenant", at("other", "webshop", "prod", "A", 2), "A", envPath("prod", "webshop", "other")],
    ["of another version", at("acme", "webshop", "prod", "A", 1), "A", envPath(), 1]
  ]
  for (const [what, there, name, path, version] of moves) {
    it.effect(`${what} does not open, nor does the other`, () =>
      Effect.gen(function* () {
        const ada = yield* world
        const db = yield* raw
        const other = version === undefined ? { path } : { path, version }
        assert.strictEqual((yield* readSecret(ada, "A")).value, `${canary}-2`)
        swap(db, here, there)
        yield* refuses(ada, "A")
        yield* refuses(ada, name, other)
        swap(db, here, there)
        assert.strictEqual((yield* readSecret(ada, "A")).value, `${canary}-2`)

        swap(db, here, there, ["ciphertext"])
        yield* refuses(ada, "A")
        yield* refuses(ada, name, other)
        swap(db, here, there, ["ciphertext"])
        swap(db, here, there, ["wrapped_key"])
        yield* refuses(ada, "A")
        yield* refuses(ada, name, other)
        swap(db, here, there, ["wrapped_key"])
      }).pipe(onDatabase())
    )
  }
})

describe("a stored secret", () => {
  const moves: ReadonlyArray<readonly [what: string, move: string, back: string, key: string, path: EnvPath]> = [
    [
      "another key",
      "UPDATE secrets SET key = 'C' WHERE key = 'A'",
      "UPDATE secrets SET key = 'A' WHERE key = 'C'",
      "C",
      envPath()
    ],
    [
      "another environment",
      "UPDATE secrets SET env_id = (SELECT id FROM environments WHERE name = 'staging')",
      "UPDATE secrets SET env_id = (SELECT id FROM environments WHERE name = 'prod')",
      "A",
      envPath("staging")
    ]
  ]
  for (const [what, move, back, name, path] of moves) {
    it.effect(`that was moved to ${what} does not open there`, () =>
      Effect.gen(function* () {
        const ada = yield* organization()
        yield* setSecret(ada, "A", canary)
        const db = yield* raw
        db.exec(move)
        yield* refuses(ada, name, { path })
        db.exec(back)
        assert.strictEqual((yield* readSecret(ada, "A")).value, canary)
      }).pipe(onDatabase())
    )
  }

  it.effect("does not open when its project was moved to another tenant, or its environment to another project", () =>
    Effect.gen(function* () {
      const ada = yield* organization("acme")
      yield* organization("other", "unused")
      yield* newProject(ada, "api")
      yield* setSecret(ada, "A", canary)
      const db = yield* raw
      const project = (name: string) => `(SELECT id FROM projects WHERE name = '${name}')`
      const org = (name: string) => `(SELECT id FROM organizations WHERE name = '${name}')`
      db.exec(`UPDATE projects SET org_id = ${org("other")} WHERE name = 'webshop'`)
      yield* refuses(ada, "A", { path: envPath("prod", "webshop", "other") })
      db.exec(`UPDATE projects SET org_id = ${org("acme")} WHERE name = 'webshop'`)

      db.exec(`UPDATE environments SET name = 'moved' WHERE project_id = ${project("webshop")} AND name = 'prod'`)
      db.exec(`UPDATE environments SET project_id = ${project("api")} WHERE name = 'moved'`)
      yield* refuses(ada, "A", { path: envPath("moved", "api") })
      db.exec(`UPDATE environments SET project_id = ${project("webshop")} WHERE name = 'moved'`)
      assert.strictEqual((yield* readSecret(ada, "A", { path: envPath("moved") })).value, canary)
    }).pipe(onDatabase())
  )

  it.effect("does not open under another version's number, nor under a copy's id", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* setSecret(ada, "A", canary)
      const db = yield* raw
      db.exec("UPDATE secret_versions SET version = 7; UPDATE secrets SET version = 7")
      yield* refuses(ada, "A")
      db.exec("UPDATE secret_versions SET version = 1; UPDATE secrets SET version = 1")
      db.exec(`
        INSERT INTO secrets SELECT 'ffffffff-ffff-7fff-bfff-ffffffffffff', env_id, 'COPY', version, created_at, updated_at,
          removed_at, removed_revision FROM secrets;
        INSERT INTO secret_versions SELECT 'ffffffff-ffff-7fff-bfff-ffffffffffff', version, revision, format, kek_id,
          wrapped_key, value_bytes, created_by, created_at, destroyed_at, ciphertext
          FROM secret_versions`)
      assert.strictEqual(yield* outcome(readSecret(ada, "COPY")), "DecryptionFailed")
      assert.strictEqual((yield* readSecret(ada, "A")).value, canary)
    }).pipe(onDamagedDatabase())
  )

  it.effect("does not open with any bit flipped in any of its columns", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* setSecret(ada, "A", canary)
      const db = yield* raw
      for (const column of ["wrapped_key", "ciphertext"] as const) {
        const original = db.prepare<[], Buffer>(`SELECT ${column} FROM secret_versions`).pluck().get()!
        const update = db.prepare(`UPDATE secret_versions SET ${column} = ?`)
        for (let bit = 0; bit < original.length * 8; bit++) {
          const edited = Buffer.from(original)
          edited.writeUInt8(edited.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
          update.run(edited)
          assert.strictEqual(yield* outcome(readSecret(ada, "A")), "DecryptionFailed", `bit ${bit} of ${column}`)
        }
        for (const edited of [
          original.subarray(1),
          original.subarray(0, -1),
          Buffer.alloc(0),
          Buffer.concat([original, original])
        ]) {
          update.run(edited)
          yield* refuses(ada, "A")
        }
        update.run(original)
        assert.strictEqual((yield* readSecret(ada, "A")).value, canary)
      }
      for (const [edit, back] of [
        ["format = 0", "format = 1"],
        ["format = 2", "format = 1"],
        ["kek_id = '' || upper(kek_id) || '0'", `kek_id = substr(lower(kek_id), 1, 16)`],
        ["kek_id = 'ffff' || kek_id", "kek_id = substr(kek_id, 5)"]
      ]) {
        db.exec(`UPDATE secret_versions SET ${edit}`)
        yield* refuses(ada, "A")
        db.exec(`UPDATE secret_versions SET ${back}`)
      }
      assert.strictEqual((yield* readSecret(ada, "A")).value, canary)
    }).pipe(onDatabase())
  )

  it.effect("does not open with the bytes of one column moved to the next, though all are there", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* setSecret(ada, "A", canary)
      const db = yield* raw
      const original = db.prepare<[], object>("SELECT wrapped_key, ciphertext FROM secret_versions").get()!
      const restore = db.prepare("UPDATE secret_versions SET wrapped_key = @wrapped_key, ciphertext = @ciphertext")
      for (const [column, next] of [
        ["wrapped_key", "ciphertext"],
        ["ciphertext", "wrapped_key"]
      ]) {
        db.exec(
          `UPDATE secret_versions SET ${column} = CAST(${column} || substr(${next}, 1, 1) AS BLOB), ${next} = substr(${next}, 2)`
        )
        yield* refuses(ada, "A")
        assert.strictEqual(yield* outcome(readBundle(ada)), "DecryptionFailed")
        restore.run(original)
      }
      assert.strictEqual((yield* readSecret(ada, "A")).value, canary)
    }).pipe(onDatabase())
  )

  it.effect("does not open with any character of its ids changed, nor with another of its versions' numbers", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* setSecret(ada, "A", canary)
      const db = yield* raw
      db.pragma("foreign_keys = OFF")
      const one = (text: string) => db.prepare<[], string>(text).pluck().get() ?? ""
      const changed = (text: string, at: number) => {
        return text.slice(0, at) + (text[at] === "0" ? "1" : "0") + text.slice(at + 1)
      }
      const id = one("SELECT id FROM secrets")
      const kek = one("SELECT kek_id FROM secret_versions")
      const move = (from: string, to: string) => {
        db.exec(`UPDATE secrets SET id = '${to}' WHERE id = '${from}';
          UPDATE secret_versions SET secret_id = '${to}' WHERE secret_id = '${from}'`)
      }
      const setKek = (to: string) => db.prepare("UPDATE secret_versions SET kek_id = ?").run(to)
      for (let at = 0; at < id.length; at++) {
        if (id[at] === "-") continue
        move(id, changed(id, at))
        assert.strictEqual(yield* outcome(readSecret(ada, "A")), "DecryptionFailed", `character ${at} of the id`)
        move(changed(id, at), id)
      }
      for (let at = 0; at < kek.length; at++) {
        setKek(changed(kek, at))
        assert.strictEqual(yield* outcome(readSecret(ada, "A")), "DecryptionFailed", `character ${at} of the key's id`)
      }
      setKek(kek)
      for (const version of [2, 3, 257, 65_537]) {
        db.exec(`UPDATE secret_versions SET version = ${version}; UPDATE secrets SET version = ${version}`)
        yield* refuses(ada, "A")
      }
      db.exec("UPDATE secret_versions SET version = 1; UPDATE secrets SET version = 1")
      assert.strictEqual((yield* readSecret(ada, "A")).value, canary)
    }).pipe(onDatabase())
  )

  it.effect("that lost its data key is not answered, and the others of its environment still are", () =>
    Effect.gen(function* () {
      const ada = yield* organization()
      yield* setSecret(ada, "A", canary)
      yield* setSecret(ada, "B", "untouched")
      const db = yield* raw
      db.exec(`UPDATE secret_versions SET wrapped_key = NULL, destroyed_at = 'now'
        WHERE secret_id = (SELECT id FROM secrets WHERE key = 'A')`)
      assert.strictEqual(yield* outcome(readSecret(ada, "A")), "NotFound")
      assert.strictEqual(yield* outcome(readBundle(ada)), "DecryptionFailed")
      assert.strictEqual((yield* readSecret(ada, "B")).value, "untouched")
      assert.strictEqual((yield* readBundle(ada, { keys: ["B"] })).data?.length, 1)
    }).pipe(onDamagedDatabase())
  )
})

describe("a secret whose version was set back in the file", () => {
  const worldOf = Effect.gen(function* () {
    const ada = yield* organization()
    for (const text of ["one", "two", "three"]) yield* setSecret(ada, "A", `${canary}-${text}`)
    yield* setSecret(ada, "B", "untouched")
    return ada
  })
  const damages: ReadonlyArray<readonly [what: string, statement: string]> = [
    ["to an earlier one", "UPDATE secrets SET version = 2 WHERE key = 'A'"],
    ["beyond the newest", "UPDATE secrets SET version = 4 WHERE key = 'A'"],
    ["by removing the newest one's row", "DELETE FROM secret_versions WHERE version = 3"],
    ["to one that was destroyed", "UPDATE secrets SET version = 1 WHERE key = 'A'"]
  ]
  for (const [what, statement] of damages) {
    it.effect(`${what}, is never read, listed or written as if it were whole`, () =>
      Effect.gen(function* () {
        const ada = yield* worldOf
        const history = yield* History
        if (what.includes("destroyed")) yield* destroying(ada, "A", [1])
        const db = yield* raw
        db.exec(statement)
        yield* refuses(ada, "A")
        yield* nextTick
        for (const attempt of [
          listSecrets(ada),
          listVersionsOf(history, ada, "A"),
          setSecret(ada, "A", "new"),
          writeBundle(ada, { set: { A: "new" } }),
          writeBundle(ada, { delete: ["A"] }),
          removeSecret(ada, "A"),
          destroying(ada, "A", [2])
        ]) {
          assert.propertyVal(
            yield* Effect.flip(attempt as Effect.Effect<unknown, unknown>),
            "code",
            "DECRYPTION_FAILED"
          )
        }
        assert.strictEqual((yield* readSecret(ada, "B")).value, "untouched")
        assert.strictEqual(
          (yield* readSecret(ada, "A", { version: 2 })).value,
          `${canary}-two`,
          "a version that is asked for by its number is what it was"
        )
      }).pipe(Effect.provide(History.Default), onDamagedDatabase())
    )
  }
})
