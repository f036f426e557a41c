import { Effect } from "effect"
import type { Scope } from "effect/Scope"
import { randomBytes } from "node:crypto"
import { readdir, rm } from "node:fs/promises"
import { basename, dirname, join } from "node:path"

type Purpose = "backup" | "restore" | "apply" | "drill"

const purposes: ReadonlyArray<Purpose> = ["backup", "restore", "apply", "drill"]

const stem = (dbPath: string, purpose: Purpose): string => `.${basename(dbPath)}.${purpose}-`

/** Removes the files beside a database with these prefixes, which includes SQLite's own files beside a temporary database. */
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

/** Returns the path of a new file beside the database. The scope removes the file unless it was renamed. */
export const temporaryFile = (dbPath: string, purpose: Purpose): Effect.Effect<string, never, Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => stem(dbPath, purpose) + randomBytes(8).toString("hex")),
      (name) => removeAll(dbPath, name)
    ),
    (name) => join(dirname(dbPath), name)
  )

/** Removes temporary files of a killed process. Call it only with the database's lock, or it removes files in use. */
export const removeLeftovers = (dbPath: string): Effect.Effect<void> =>
  removeAll(dbPath, ...purposes.map((purpose) => stem(dbPath, purpose)))
