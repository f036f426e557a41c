import { Effect } from "effect"
import { createRequire } from "node:module"
import { Worker } from "node:worker_threads"

const require = createRequire(import.meta.url)

/** Runs a module of this folder on the database file in a thread, to its end. Fails with what it throws. */
export const onFileInThread = (
  module: "CheckpointWorker" | "MaintainWorker",
  path: string
): Effect.Effect<void, Error> =>
  Effect.async((resume) => {
    // The build, also where this module runs from its source: a thread is started from JavaScript.
    const worker = require.resolve(`@coffer/server/database/sqlite/${module}`)
    // The environment holds the master key: it is not for this thread.
    const thread = new Worker(worker, { workerData: path, env: {}, execArgv: [] })
    thread.once("error", (error) => {
      resume(Effect.fail(error))
    })
    thread.once("exit", () => {
      resume(Effect.void)
    })
    return Effect.promise(() => thread.terminate())
  })
