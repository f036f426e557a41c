import { execFileSync } from "node:child_process"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { countStatements, type Filters, pageStatement, totalStatements } from "@coffer/server/audit/Search"
import { Database } from "@coffer/server/database/Database"
import type { Template } from "@coffer/server/database/Template"
import { ErasuresLive } from "@coffer/server/database/sqlite/Erasure"
import { SqliteSnapshotsLive } from "@coffer/server/database/sqlite/SqliteSnapshots"
import { DatabaseLive } from "@coffer/server/database/sqlite/SqliteDatabase"
import { serverOn } from "@coffer/server/Server"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { freePort } from "../../support/Port.js"
import { configAt, freshPath, organization, rawAt, servicesAt, setSecret } from "../../support/Services.js"

/** Compiles the extension that counts, which is loaded into the driver's own SQLite. */
const counterAt = (folder: string) =>
  Effect.sync(() => {
    const sqlite = dirname(createRequire(import.meta.url).resolve("better-sqlite3/package.json"))
    const [library, source] = [join(folder, "reprepares.so"), fileURLToPath(new URL("Reprepares.cc", import.meta.url))]
    const flags = ["-shared", "-fPIC", "-I", join(sqlite, "deps/sqlite3")]
    execFileSync(process.env["CXX"] ?? "c++", [...flags, "-o", library, source])
    return library
  })

/** Statements that are built for one use: the searches of the audit log. */
const searches = (): ReadonlyArray<Template> => {
  const actors = { ids: ["a", "b"], nameless: "c" }
  const all = { log: "log", action: "a", resource_type: "r", actors, project: "p", env: "e", key: "k" }
  const filters = Object.entries(all).reduce<ReadonlyArray<Filters>>(
    (made, [name, value]) => made.flatMap((one) => [one, { ...one, [name]: value }]),
    [{}]
  )
  const range = { from: 1, below: 2, times: { since: "2026", until: "2027" } }
  return filters.flatMap((some) => [
    pageStatement(some, range, false),
    ...totalStatements(some),
    ...countStatements(some, range)
  ])
}

/** Starts a server on a new file, and returns the texts of all statements. */
const statementsAt = (path: string) =>
  Effect.gen(function* () {
    const texts = new Set<string>()
    const Watched = Layer.effect(
      Database,
      Effect.map(Database, (database) => {
        const textOf = (statement: Template) => {
          const text = database.textOf(statement)
          texts.add(text)
          return text
        }
        searches().forEach(textOf)
        return Database.of({ ...database, textOf })
      })
    ).pipe(Layer.provideMerge(DatabaseLive))
    const port = yield* Effect.promise(freePort)
    const Live = serverOn(Layer.provideMerge(Layer.merge(ErasuresLive, SqliteSnapshotsLive), Watched)).pipe(
      Layer.provide(configAt(path, { SERVICE_PORT: String(port), SERVICE_LOG_LEVEL: "error" }))
    )
    yield* Effect.scoped(Layer.build(Live))
    return [...texts]
  })

/** A statement without its literals, which may have question marks. */
const bare = (text: string): string => text.replaceAll(/'[^']*'/g, "''")

describe("a statement", () => {
  it.live("is prepared once, whatever its values and whatever statistics there are", () =>
    Effect.gen(function* () {
      const path = yield* freshPath
      yield* Effect.provide(
        Effect.flatMap(organization(), (ada) => setSecret(ada, "A", "x")),
        servicesAt(path)
      )
      const texts = yield* statementsAt(path)
      assert.isAbove(texts.length, 700)
      assert.deepStrictEqual(
        texts.filter((text) => /(?<!\+)\?/.test(bare(text))),
        []
      )
      const database = yield* rawAt(path)
      database.loadExtension(yield* counterAt(dirname(path)))
      const count = database.prepare<[], number>("SELECT reprepares()").pluck()

      const preparedAgain = () =>
        texts.filter((text) => {
          const statement = database.prepare(text)
          const before = count.get()
          for (const value of [1, 2, 3]) {
            database.exec("BEGIN")
            try {
              const values = Array.from(bare(text).matchAll(/\?/g), () => value)
              if (statement.reader) statement.all(...values)
              else statement.run(...values)
            } catch {
              // A constraint: the statement ran until there.
            }
            database.exec("ROLLBACK")
          }
          return count.get() !== before
        })

      assert.deepStrictEqual(preparedAgain(), [])
      database.exec("ANALYZE")
      assert.deepStrictEqual(preparedAgain(), [])
    }).pipe(Effect.scoped)
  )
})
