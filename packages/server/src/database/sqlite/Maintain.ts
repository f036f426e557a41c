import { Effect } from "effect"
import { createRequire } from "node:module"
import { Worker } from "node:worker_threads"
import { DatabaseFile } from "../Files.js"
import { truncateWriteAheadLog } from "../WriteAheadLog.js"

// The build, also where this module runs from its source: a thread is started from JavaScript.
const worker = createRequire(import.meta.url).resolve("@coffer/server/database/sqlite/MaintainWorker")

/**
 * Tells the planner how large the tables are, and moves the write-ahead log into the database file: in a thread, for an
 * analysis counts all rows of a table, and the log may have become long while somebody read.
 */
const inThread = (path: string) =>
  Effect.async<void>((resume) => {
    // The environment holds the master key: it is not for this thread.
    const thread = new Worker(worker, { workerData: path, env: {}, execArgv: [] })
    thread.once("error", (error) => {
      resume(Effect.logWarning("the planner's statistics are as they were: the next maintenance tries again", error))
    })
    thread.once("exit", () => {
      resume(Effect.void)
    })
    return Effect.promise(() => thread.terminate())
  })

/** Refreshes the planner's statistics, and empties the write-ahead log. */
export const maintain = Effect.zipRight(
  Effect.flatMap(DatabaseFile, ({ path }) => inThread(path)),
  truncateWriteAheadLog
)
