import * as Effect from "effect/Effect"
import { createRequire } from "node:module"
import { Worker } from "node:worker_threads"
import { type LocalFailure, localFailure } from "./LocalFailure.js"

const require = createRequire(import.meta.url)

const modules = {
  snapshot: "database/sqlite/SnapshotWorker",
  export: "database/copy/ExportWorker",
  settle: "database/sqlite/SettleWorker",
  count: "database/sqlite/CountWorker",
  drill: "operations/backups/DrillWorker"
} as const

/**
 * Runs a module in a thread and returns the message that it posts. Interruption terminates the thread and its connections. The
 * thread gets no environment variables, because they hold the master key.
 */
export const runThread = (
  work: keyof typeof modules,
  argv: ReadonlyArray<string>,
  workerData?: unknown
): Effect.Effect<unknown, LocalFailure> =>
  Effect.async<unknown, LocalFailure>((resume) => {
    // The built file, even if this module runs from source: a worker needs JavaScript.
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
