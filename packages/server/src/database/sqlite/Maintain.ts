import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { rowsOf } from "../Rows.js"
import { onFileInThread } from "./FileThread.js"
import { SqliteWriter } from "./SqliteWriter.js"

/**
 * Refreshes the query planner's statistics and moves the write-ahead log into the database file. Both run in a thread:
 * large tables or a log that grew during a long read would block the event loop.
 */
const analyse = (path: string) =>
  Effect.catchAll(onFileInThread("MaintainWorker", path), (error) =>
    Effect.logWarning("the query planner's statistics could not be refreshed: retrying within the hour", error)
  )

const checkpointRows = rowsOf(Schema.Struct({ busy: Schema.Number }))

/**
 * Moves the write-ahead log into the database file and truncates it, so that it stays small and holds no old data.
 * While another connection reads, this logs a warning, and the next maintenance retries.
 */
const truncateWriteAheadLog = ({ alone, connection }: SqliteWriter["Type"]) =>
  Effect.gen(function* () {
    const found = yield* alone(connection.execute("PRAGMA wal_checkpoint(TRUNCATE)", [], undefined))
    const [row] = yield* checkpointRows(found)
    if (row === undefined || row.busy !== 0) {
      yield* Effect.logWarning("the write-ahead log is in use and could not be emptied: retrying within the hour")
    }
  })

/** Refreshes the planner's statistics, and empties the write-ahead log. */
export const maintain = (writer: SqliteWriter["Type"], path: string): Effect.Effect<void> =>
  Effect.zipRight(analyse(path), Effect.orDie(truncateWriteAheadLog(writer)))

/**
 * Rewrites the whole file, and returns whether that succeeded. Cells that moved between pages can leave copies of
 * overwritten data in the gaps of pages.
 */
export const rewriteFile = Effect.gen(function* () {
  const writer = yield* SqliteWriter
  const run = (text: string) => writer.alone(writer.connection.execute(text, [], undefined))
  yield* truncateWriteAheadLog(writer)
  // The rewrite of a large database does not fit in memory.
  yield* run("PRAGMA temp_store = FILE")
  yield* run("VACUUM")
  yield* truncateWriteAheadLog(writer)
  return true
}).pipe(Effect.catchAllCause(() => Effect.succeed(false)))
