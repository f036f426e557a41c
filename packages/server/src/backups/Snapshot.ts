import { Effect, type Scope } from "effect"
import { open, writeFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { Worker } from "node:worker_threads"
import { LocalFailure, localFailure } from "./LocalFailure.js"

// The build, also where this module runs from its source: a thread is started from JavaScript.
const worker = createRequire(import.meta.url).resolve("@coffer/server/backups/SnapshotWorker")

/** Runs the worker to its end. Interrupted, it ends the thread, and with it the connections. */
const run = (...argv: Array<string>) =>
  Effect.async<ReadonlyArray<unknown>, LocalFailure>((resume) => {
    // The environment holds the master key: it is not for this thread.
    const thread = new Worker(worker, { argv, env: {}, execArgv: [] })
    thread.once("message", (problems: unknown) => {
      resume(Effect.succeed(Array.isArray(problems) ? problems : [problems]))
    })
    thread.once("error", (error) => {
      resume(localFailure(error))
    })
    thread.once("exit", (code) => {
      resume(localFailure(`the thread ended early, with ${code}`))
    })
    return Effect.promise(() => thread.terminate())
  })

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
    const problems = yield* Effect.raceFirst(run(dbPath, path, id, name), Effect.scoped(flushing(path)))
    if (problems.length > 0) {
      const reason = `the copy does not pass its checks: ${problems.map(String).join("; ")}`
      return yield* new LocalFailure({ reason, full: false })
    }
  })
