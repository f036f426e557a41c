import * as Effect from "effect/Effect"
import { createRequire } from "node:module"
import { Worker } from "node:worker_threads"

const require = createRequire(import.meta.url)

/** Runs a module of this folder on the database file in a thread. Fails with the error that the module throws. */
export const onFileInThread = (
  module: "CheckpointWorker" | "MaintainWorker",
  path: string
): Effect.Effect<void, Error> =>
  Effect.async((resume) => {
    // Resolves to the build even when this module runs from source: threads need JavaScript.
    const worker = require.resolve(`@coffer/server/database/sqlite/${module}`)
    // Start with an empty environment: the server's holds the master key.
    const thread = new Worker(worker, { workerData: path, env: {}, execArgv: [] })
    thread.once("error", (error) => {
      resume(Effect.fail(error))
    })
    thread.once("exit", () => {
      resume(Effect.void)
    })
    return Effect.promise(() => thread.terminate())
  })
