import { Effect } from "effect"
import { createRequire } from "node:module"
import { Worker } from "node:worker_threads"
import { type LocalFailure, localFailure } from "./LocalFailure.js"

const require = createRequire(import.meta.url)

const modules = {
  snapshot: "database/sqlite/SnapshotWorker",
  settle: "database/sqlite/SettleWorker",
  count: "database/sqlite/CountWorker",
  drill: "backups/DrillWorker"
} as const

/**
 * Runs a module in a thread to its end, and returns what it posts. An interruption ends the thread, and with
 * it its connections. The thread has no environment variables: they hold the master key.
 */
export const runThread = (
  work: keyof typeof modules,
  argv: ReadonlyArray<string>,
  workerData?: unknown
): Effect.Effect<unknown, LocalFailure> =>
  Effect.async<unknown, LocalFailure>((resume) => {
    // The build, also where this module runs from its source: a thread is started from JavaScript.
    const path = require.resolve(`@coffer/server/${modules[work]}`)
    const thread = new Worker(path, { argv: [...argv], workerData, env: {}, execArgv: [] })
    thread.once("message", (message: unknown) => {
      resume(Effect.succeed(message))
    })
    thread.once("error", (error) => {
      resume(localFailure(error))
    })
    thread.once("exit", (code) => {
      resume(localFailure(`the thread ended early, with ${code}`))
    })
    return Effect.promise(() => thread.terminate())
  })
