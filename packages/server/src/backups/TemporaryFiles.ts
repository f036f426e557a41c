import { Effect } from "effect"
import type { Scope } from "effect/Scope"
import { randomBytes } from "node:crypto"
import { readdir, rm } from "node:fs/promises"
import { basename, dirname, join } from "node:path"

type Purpose = "backup" | "restore" | "apply" | "drill"

const purposes: ReadonlyArray<Purpose> = ["backup", "restore", "apply", "drill"]

const stem = (dbPath: string, purpose: Purpose): string => `.${basename(dbPath)}.${purpose}-`

/** Removes the files beside a database whose names begin so: SQLite puts its own beside the one that it works on. */
const removeAll = (dbPath: string, ...stems: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const folder = dirname(dbPath)
    const files = yield* Effect.tryPromise(() => readdir(folder))
    for (const file of files.filter((name) => stems.some((begin) => name.startsWith(begin)))) {
      yield* Effect.tryPromise(() => rm(join(folder, file), { force: true }))
    }
  }).pipe(
    Effect.catchAll(({ error }) =>
      Effect.logWarning("a temporary file beside the database could not be removed", error)
    )
  )

/** The path of a file beside the database, not there yet; it goes with the scope unless it was renamed. */
export const temporaryFile = (dbPath: string, purpose: Purpose): Effect.Effect<string, never, Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => stem(dbPath, purpose) + randomBytes(8).toString("hex")),
      (name) => removeAll(dbPath, name)
    ),
    (name) => join(dirname(dbPath), name)
  )

/** Removes what a killed process left beside its database. Only for who owns the database: nobody else has such files. */
export const removeLeftovers = (dbPath: string): Effect.Effect<void> =>
  removeAll(dbPath, ...purposes.map((purpose) => stem(dbPath, purpose)))
