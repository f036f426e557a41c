import { spawn } from "node:child_process"
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { migrations } from "@coffer/server/database/sqlite/Migrations"
import { makeKeyring, unwrapBytes, type Wrapped } from "@coffer/server/keys/Keyring"
import { assert, describe, it } from "@effect/vitest"
import Sqlite from "better-sqlite3"
import { Array, Effect, Exit, Redacted } from "effect"
import { build } from "esbuild"
import { afterAll, beforeAll } from "vitest"
import { dyingAt } from "../support/Dying.js"
import { cleanUp, freshFolder } from "../support/Program.js"
import {
  freshPath,
  invariants,
  masterKey,
  organization,
  person,
  rawAt,
  readSecret,
  removeSecret,
  servicesAt,
  setSecret
} from "../support/Services.js"
import { isSoak } from "../../../domain/test/support/Runs.js"

const fileOf = (relative: string) => fileURLToPath(new URL(relative, import.meta.url))
const client = fileOf("../../../cli/bin/coffer.js")
const server = fileOf("../../bin/coffer-server.js")
/** `Migrating.mjs` as one file: it starts some thirty times, and its modules take a second and a half. */
const migrating = fileOf("../../dist/test/Migrating.mjs")

/** The schema to which it migrates, and the copy that is kept before. */
const later = Object.keys(migrations).length + 1
const copyOfLater = (path: string): string => `${path}.before-${String(later).padStart(4, "0")}`

beforeAll(() =>
  build({
    entryPoints: [fileOf("Migrating.mjs")],
    outfile: migrating,
    bundle: true,
    format: "esm",
    platform: "node",
    external: ["better-sqlite3"],
    // The modules of dependencies that are CommonJS.
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);'
    }
  })
)

afterAll(() => {
  rmSync(dirname(migrating), { recursive: true, force: true })
  cleanUp()
})

interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly out: string
  readonly err: string
}

const run = (folder: string, args: ReadonlyArray<string>, env: NodeJS.ProcessEnv): Promise<Ended> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, args, {
      cwd: folder,
      env: { PATH: process.env["PATH"], HOME: folder, ...env }
    })
    const said = { out: "", err: "" }
    child.stdout.setEncoding("utf8").on("data", (text: string) => (said.out += text))
    child.stderr.setEncoding("utf8").on("data", (text: string) => (said.err += text))
    child.once("close", (code, signal) => {
      resolve({ code, signal, ...said })
    })
  })

type Command = (folder: string, nodeOptions?: string) => Promise<Ended>

const rotate: Command = (folder, NODE_OPTIONS) =>
  run(folder, [client, "master-key", "rotate", "--db", "service.db", "--generate"], {
    SERVICE_MASTER_KEY: masterKey,
    NODE_OPTIONS
  })

const rotateToFile: Command = (folder, NODE_OPTIONS) =>
  run(folder, [client, "master-key", "rotate", "--db", "service.db", "--generate", "--out", "new.key"], {
    SERVICE_MASTER_KEY: masterKey,
    NODE_OPTIONS
  })

const apply: Command = (folder, NODE_OPTIONS) =>
  run(folder, [server, "restore", "--apply", "restored.db"], { SERVICE_MASTER_KEY: masterKey, NODE_OPTIONS })

const migrate: Command = (folder, NODE_OPTIONS) =>
  run(folder, [migrating, join(folder, "service.db")], { NODE_OPTIONS })

/** A closed database with versions of all kinds, as the server that is tested makes it. */
const template = Effect.gen(function* () {
  const path = yield* freshPath
  yield* Effect.gen(function* () {
    const ada = yield* organization()
    for (const text of ["one", "two"]) yield* setSecret(ada, "A", text)
    yield* setSecret(ada, "B", "removed")
    yield* removeSecret(ada, "B")
  }).pipe(Effect.provide(servicesAt(path)), Effect.scoped)
  return path
})

/** A folder with the same closed databases. */
const copyOf = (path: string) => {
  const folder = freshFolder()
  for (const name of readdirSync(dirname(path))) {
    if (name.endsWith(".db")) copyFileSync(join(dirname(path), name), join(folder, name))
  }
  return folder
}

/**
 * Runs a command once to see its steps, from the first that `from` matches on; then once for each of them, killed there.
 * In short, every `stride`-th kind of step is met once, each that is critical, and the last ones.
 */
const killedEverywhere = (
  path: string,
  command: Command,
  { critical, from, last = 0, stride = 12 }: { from: RegExp; critical: RegExp; stride?: number; last?: number }
) =>
  Effect.gen(function* () {
    const trace = join(freshFolder(), "trace")
    const whole = yield* Effect.promise(() => command(copyOf(path), dyingAt(0, trace)))
    assert.strictEqual(whole.code, 0, whole.err)
    const steps = readFileSync(trace, "utf8").trimEnd().split("\n")
    const first = steps.findIndex((step) => from.test(step))
    assert.isAtLeast(first, 0, steps.join("\n"))
    const all = Array.range(first, steps.length - 1)
    const kinds = all.filter((at) => steps.indexOf(steps[at] ?? "", first) === at)
    const isMet = (at: number, nth: number) => nth % stride === 0 || critical.test(steps[at] ?? "")
    const chosen = isSoak ? all : Array.dedupe([...kinds.filter(isMet), ...all.slice(all.length - last)])
    return yield* Effect.forEach(
      chosen,
      (at) =>
        Effect.promise(async () => {
          const folder = copyOf(path)
          const ended = await command(folder, dyingAt(at + 1))
          assert.strictEqual(ended.signal, "SIGKILL", `killed before ${steps[at]}: ${ended.err}`)
          return { folder, path: join(folder, "service.db"), step: steps[at] ?? "", ...ended }
        }),
      { concurrency: 2 }
    )
  })

/** Those of some keys that open a database. */
const opening = (path: string, keys: ReadonlyArray<string>) =>
  Effect.filter(keys, (key) =>
    Effect.scoped(
      Effect.gen(function* () {
        const db = yield* rawAt(path)
        const row = db.prepare<[], Wrapped>("SELECT * FROM wrapped_keys WHERE name = 'check'").get()
        const keyring = yield* makeKeyring(Redacted.make(key))
        return row !== undefined && Exit.isSuccess(yield* Effect.exit(unwrapBytes(keyring, "check", row)))
      })
    )
  )

const readBoth = Effect.gen(function* () {
  const ada = yield* person("ada@example.com")
  return yield* Effect.forEach([1, 2], (version) => readSecret(ada, "A", { version }))
})

const assertSecrets = (path: string, key: string) =>
  Effect.map(Effect.scoped(Effect.provide(readBoth, servicesAt(path, { SERVICE_MASTER_KEY: key }))), (found) => {
    assert.deepStrictEqual(
      found.map(({ value }) => value),
      ["one", "two"]
    )
  })

describe("killed at any step,", () => {
  it.scopedLive(
    "a rotation leaves a database that exactly one key opens: the old one, or one that was printed",
    () =>
      Effect.gen(function* () {
        const ends = yield* killedEverywhere(yield* template, rotate, {
          from: /^BEGIN IMMEDIATE$/,
          critical: /^(writeSync|fsyncSync|COMMIT|VACUUM|PRAGMA wal_checkpoint)/
        })
        const seen = { old: 0, printed: 0, printedInVain: 0 }
        for (const { out, path, step } of ends) {
          const printed = /^[0-9a-f]{64}\n$/.test(out) ? [out.trim()] : []
          if (printed.length === 0) assert.strictEqual(out, "")
          const [key = "", ...others] = yield* opening(path, [masterKey, ...printed])
          assert.notStrictEqual(key, "", `no key opens what is left before ${step}`)
          assert.deepStrictEqual(others, [], step)
          yield* invariants(path, key)
          yield* assertSecrets(path, key)
          if (key !== masterKey) seen.printed++
          else if (printed.length > 0) seen.printedInVain++
          else seen.old++
        }
        assert.isAbove(seen.old, 1, "killed before the key was printed,")
        assert.isAbove(seen.printedInVain, 0, "after that and before the commit,")
        assert.isAbove(seen.printed, 1, "and after it")
      }),
    240_000
  )

  it.scopedLive(
    "a rotation to a file leaves a database that exactly one key opens: the old one, or the one in the file",
    () =>
      Effect.gen(function* () {
        const ends = yield* killedEverywhere(yield* template, rotateToFile, {
          from: /^BEGIN IMMEDIATE$/,
          critical: /^(writeSync|fsyncSync|COMMIT|VACUUM)/,
          stride: 24
        })
        const seen = { old: 0, inFile: 0, finished: 0 }
        for (const { folder, out, path, step } of ends) {
          assert.strictEqual(out, "")
          const file = join(folder, "new.key")
          const text = existsSync(file) ? readFileSync(file, "utf8") : ""
          const written = /^[0-9a-f]{64}\n$/.test(text) ? [text.trim()] : []
          const [key = "", ...others] = yield* opening(path, [masterKey, ...written])
          assert.notStrictEqual(key, "", `no key opens what is left before ${step}`)
          assert.deepStrictEqual(others, [], step)
          seen[key === masterKey ? "old" : "inFile"]++
          const again = yield* Effect.promise(() => rotateToFile(folder))
          if (key !== masterKey) {
            assert.strictEqual(again.code, 0, again.err)
            assert.match(again.err, /in force already, by a rotation that was interrupted/)
            assert.strictEqual(readFileSync(file, "utf8"), text)
            seen.finished++
          } else if (text !== "") {
            assert.strictEqual(again.code, 1)
            assert.match(again.err, /not in force: remove it/)
          }
          yield* assertSecrets(path, again.code === 0 ? readFileSync(file, "utf8").trim() : masterKey)
        }
        assert.isAbove(seen.old, 1)
        assert.isAbove(seen.finished, 0)
      }),
    240_000
  )

  it.scopedLive(
    "a migration leaves the database as it was or migrated, with a whole copy of it before it changes",
    () =>
      Effect.gen(function* () {
        const ends = yield* killedEverywhere(yield* template, migrate, {
          from: /^VACUUM INTO/,
          critical: /^(renameSync|BEGIN|COMMIT)/,
          last: 1
        })
        const seen = { old: 0, migrated: 0 }
        for (const { folder, path, step } of ends) {
          const database = new Sqlite(path)
          const schema = database.prepare("SELECT max(migration_id) FROM effect_sql_migrations").pluck().get()
          const labels = database
            .prepare("SELECT count(*) FROM pragma_table_info('secrets') WHERE name = 'label'")
            .pluck()
          assert.strictEqual(labels.get(), schema === later ? 1 : 0, `half a migration is left before ${step}`)
          database.close()
          const copy = copyOfLater(path)
          if (schema === later) {
            seen.migrated++
            assert.isTrue(existsSync(copy))
            const refused = yield* Effect.flip(Effect.scoped(Effect.provide(Effect.void, servicesAt(path))))
            assert.include(String(refused), `schema ${later}, which is newer`)
          } else {
            seen.old++
            yield* assertSecrets(path, masterKey)
            yield* invariants(path)
          }
          if (existsSync(copy)) {
            assert.strictEqual(statSync(copy).mode & 0o777, 0o600)
            yield* invariants(copy)
            yield* assertSecrets(copy, masterKey)
          }
          for (const file of readdirSync(folder)) {
            assert.strictEqual(statSync(join(folder, file)).mode & 0o077, 0, `${file} is its owner's alone`)
          }
          if (!isSoak) continue
          const again = yield* Effect.promise(() => migrate(folder))
          assert.strictEqual(again.code, 0, again.err)
          assert.deepStrictEqual(
            readdirSync(folder).filter((name) => name.endsWith(".part")),
            []
          )
        }
        assert.isAbove(seen.old, 1)
        assert.isAbove(seen.migrated, 0)
      }),
    240_000
  )

  it.scopedLive(
    "a restore --apply leaves the old database or the restored one, whole, and the next one finishes it",
    () =>
      Effect.gen(function* () {
        const before = yield* template
        const restored = join(dirname(before), "restored.db")
        new Sqlite(before).exec(`VACUUM INTO '${restored}'`).close()
        const later = Effect.flatMap(person("ada@example.com"), (ada) => setSecret(ada, "A", "three"))
        yield* Effect.scoped(Effect.provide(later, servicesAt(before)))
        const ends = yield* killedEverywhere(before, apply, {
          from: /^copyFile$/,
          critical: /^(COMMIT|link|rename)$/,
          stride: 20,
          last: 1
        })
        const seen = { old: 0, restored: 0 }
        for (const { folder, path, step } of ends) {
          const database = new Sqlite(path)
          const version = database.prepare("SELECT max(version) FROM secret_versions").pluck().get()
          database.close()
          assert.include([2, 3], version, step)
          seen[version === 3 ? "old" : "restored"]++
          yield* assertSecrets(path, masterKey)
          yield* invariants(path)
          if (!isSoak) continue
          const again = yield* Effect.promise(() => apply(folder))
          assert.strictEqual(again.code, 0, again.err)
          const hidden = readdirSync(folder).filter((name) => name.startsWith("."))
          assert.deepStrictEqual(hidden, [], step)
          yield* invariants(path)
        }
        assert.isAbove(seen.old, 2)
        assert.isAbove(seen.restored, 0)
      }),
    240_000
  )

  it.scopedLive("and failing at its end, a migration leaves the database as it was, says so, and has kept a copy", () =>
    Effect.gen(function* () {
      const folder = copyOf(yield* template)
      const path = join(folder, "service.db")
      const failed = yield* Effect.promise(() => run(folder, [migrating, path], { FAIL: "1" }))
      assert.strictEqual(failed.code, 1)
      assert.match(failed.err, /the database cannot be migrated \(NOT NULL .*\): it is as it was before\n$/)
      yield* assertSecrets(path, masterKey)
      yield* invariants(path)
      yield* assertSecrets(copyOfLater(path), masterKey)
    })
  )
})
