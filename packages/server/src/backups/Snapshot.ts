import { Effect, type Scope } from "effect"
import { open, writeFile } from "node:fs/promises"
import { LocalFailure, localFailure } from "./LocalFailure.js"
import { runThread } from "./Thread.js"

const flushEvery = "10 millis"

/** Flushes a file regularly while it is written. Otherwise a commit of the database would wait for the flush of the whole file. */
const flushing = (path: string): Effect.Effect<never, LocalFailure, Scope.Scope> =>
  Effect.acquireRelease(Effect.tryPromise({ try: () => open(path, "r+"), catch: localFailure }), (file) =>
    Effect.promise(() => file.close())
  ).pipe(
    Effect.flatMap((file) =>
      Effect.zipRight(
        Effect.sleep(flushEvery),
        Effect.tryPromise({ try: () => file.datasync(), catch: localFailure })
      ).pipe(Effect.forever)
    )
  )

/** Identifies a backup inside its snapshot, so that swapped objects are detected. */
export interface Mark {
  readonly id: string
  /** The object's name without the prefix. */
  readonly name: string
}

/**
 * Writes a consistent, marked copy of the database to `path` (created with 0600) in a thread, without blocking writers. Then
 * checks the copy: integrity, references, counts, and the ends of the audit logs.
 */
export const takeSnapshot = (dbPath: string, path: string, { id, name }: Mark): Effect.Effect<void, LocalFailure> =>
  Effect.gen(function* () {
    // SQLite accepts an existing empty file and keeps its mode.
    yield* Effect.tryPromise({ try: () => writeFile(path, "", { flag: "wx", mode: 0o600 }), catch: localFailure })
    const posted = yield* Effect.raceFirst(
      runThread("snapshot", [dbPath, path, id, name]),
      Effect.scoped(flushing(path))
    )
    const problems: ReadonlyArray<unknown> = Array.isArray(posted) ? posted : [posted]
    if (problems.length > 0) {
      const reason = `the copy does not pass its checks: ${problems.map(String).join("; ")}`
      return yield* new LocalFailure({ reason, full: false })
    }
  })
