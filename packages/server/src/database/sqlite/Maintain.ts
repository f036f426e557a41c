import { Effect, Schema } from "effect"
import { rowsOf } from "../Rows.js"
import { onFileInThread } from "./FileThread.js"
import { SqliteWriter } from "./SqliteWriter.js"

/**
 * Tells the planner how large the tables are, and moves the write-ahead log into the database file: in a thread, for an
 * analysis counts all rows of a table, and the log may have become long while somebody read.
 */
const analyse = (path: string) =>
  Effect.catchAll(onFileInThread("MaintainWorker", path), (error) =>
    Effect.logWarning("the planner's statistics are as they were: the next maintenance tries again", error)
  )

const checkpointRows = rowsOf(Schema.Struct({ busy: Schema.Number }))

/**
 * Moves the write-ahead log into the database file and empties it, so that it stays small and holds nothing of before. While
 * another connection reads, it cannot be emptied: that is logged, and the next maintenance tries again.
 */
const truncateWriteAheadLog = ({ alone, connection }: SqliteWriter["Type"]) =>
  Effect.gen(function* () {
    const found = yield* alone(connection.execute("PRAGMA wal_checkpoint(TRUNCATE)", [], undefined))
    const [row] = yield* checkpointRows(found)
    if (row === undefined || row.busy !== 0) {
      yield* Effect.logWarning(
        "the write-ahead log is in use and could not be emptied: it is tried again within the hour"
      )
    }
  })

/** Refreshes the planner's statistics, and empties the write-ahead log. */
export const maintain = (writer: SqliteWriter["Type"], path: string): Effect.Effect<void> =>
  Effect.zipRight(analyse(path), Effect.orDie(truncateWriteAheadLog(writer)))

/**
 * Writes the whole file anew: what moved between pages may have left copies of what was overwritten in their gaps. Answers
 * whether it could.
 */
export const rewriteFile = Effect.gen(function* () {
  const writer = yield* SqliteWriter
  const run = (text: string) => writer.alone(writer.connection.execute(text, [], undefined))
  yield* truncateWriteAheadLog(writer)
  // Of a large database this is too much for memory.
  yield* run("PRAGMA temp_store = FILE")
  yield* run("VACUUM")
  yield* truncateWriteAheadLog(writer)
  return true
}).pipe(Effect.catchAllCause(() => Effect.succeed(false)))
