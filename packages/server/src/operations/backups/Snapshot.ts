import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { open, writeFile } from "node:fs/promises"
import type { Mark, Snapshots } from "../../database/Snapshots.js"
import { LocalFailure, localFailure } from "../../base/files/LocalFailure.js"

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

/**
 * Writes a snapshot of the database to `path` (created with 0600). Fails if the copy does not pass its checks.
 */
export const takeSnapshot = (
  { write }: Context.Tag.Service<Snapshots>,
  path: string,
  mark: Mark
): Effect.Effect<void, LocalFailure> =>
  Effect.gen(function* () {
    // SQLite accepts an existing empty file and keeps its mode.
    yield* Effect.tryPromise({ try: () => writeFile(path, "", { flag: "wx", mode: 0o600 }), catch: localFailure })
    const problems = yield* Effect.raceFirst(write(path, mark), Effect.scoped(flushing(path)))
    if (problems.length > 0) {
      const reason = `the copy does not pass its checks: ${problems.join("; ")}`
      return yield* new LocalFailure({ reason, full: false })
    }
  })
