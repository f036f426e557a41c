import { writeFile } from "node:fs/promises"
import * as Reactivity from "@effect/experimental/Reactivity"
import * as SqlClient from "@effect/sql/SqlClient"
import type Sqlite from "better-sqlite3"
import * as Effect from "effect/Effect"
import { isDiskFull, reasonOf } from "../../base/Reason.js"
import { clientOf } from "../sqlite/Connection.js"
import { migrate } from "../sqlite/Migrations.js"
import { CopyFailed, type Target } from "./Sides.js"
import { sqliteAt, sqliteTarget } from "./SqliteSides.js"

/** A file that is incomplete is removed, so a crash may leave it damaged. */
const settings = ["journal_mode = OFF", "synchronous = OFF", "locking_mode = EXCLUSIVE", "cache_size = -65536"]

const failed = (error: unknown) => new CopyFailed({ reason: reasonOf(error), full: isDiskFull(error) })

/**
 * Writes a database into `path`, an empty file or none (created with 0600): its schema, and what `fill` inserts, as one
 * transaction. Then runs `check` on the connection. The caller removes the file after a failure, and flushes it to disk.
 */
export const writeNewFile = <A, E, R, B>(
  path: string,
  fill: (target: Target) => Effect.Effect<A, E, R>,
  check: (database: Sqlite.Database, filled: A) => B
) =>
  Effect.gen(function* () {
    yield* Effect.tryPromise({ try: () => writeFile(path, "", { flag: "a", mode: 0o600 }), catch: failed })
    yield* Effect.flatMap(clientOf(path), (client) =>
      Effect.provideService(migrate(path), SqlClient.SqlClient, client)
    ).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
    const database = yield* sqliteAt(path)
    const run = <C>(work: () => C) => Effect.try({ try: work, catch: failed })
    yield* run(() => {
      for (const setting of settings) database.pragma(setting)
      database.exec("BEGIN")
    })
    const filled = yield* fill(yield* sqliteTarget(database))
    yield* run(() => database.exec("COMMIT"))
    return { filled, checked: yield* run(() => check(database, filled)) }
  }).pipe(Effect.scoped)
