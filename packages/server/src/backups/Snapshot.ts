import { Effect, type Scope } from "effect"
import { open, writeFile } from "node:fs/promises"
import { LocalFailure, localFailure } from "./LocalFailure.js"
import { runThread } from "./Thread.js"

const flushEvery = "10 millis"

/**
 * Sees to it that what is written to a file reaches the disk little by little. A commit of the database waits for the disk, and
 * would wait behind all of it.
 */
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

/** What a snapshot tells about itself, so that backups whose objects were swapped are found. */
export interface Mark {
  readonly id: string
  /** The object's name without the prefix. */
  readonly name: string
}

/**
 * Writes a consistent copy of the database at `dbPath` to `path` (made here, 0600) without stopping writers or holding up
 * this thread, marks it, opens it again and checks it: integrity, references, counts, the ends of the audit logs.
 */
export const takeSnapshot = (dbPath: string, path: string, { id, name }: Mark): Effect.Effect<void, LocalFailure> =>
  Effect.gen(function* () {
    // SQLite writes into a file that is there and empty, and leaves its mode as it is.
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
