import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { turn } from "../../Turn.js"
import { truncateWriteAheadLog } from "../WriteAheadLog.js"
import { rowsOf } from "../Writer.js"

const OptimizeRow = Schema.Struct({ optimize: Schema.String })

/** Tells the planner how large the tables are, one table after another: an analysis of all of them takes long. */
const optimize = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`PRAGMA analysis_limit = 200`
  for (const statement of yield* rowsOf(OptimizeRow)(sql`PRAGMA optimize(-1)`)) {
    yield* sql.unsafe(statement.optimize)
    yield* turn
  }
}).pipe(Effect.orDie)

/** Refreshes the planner's statistics, and empties the write-ahead log. */
export const maintain = Effect.zipRight(optimize, truncateWriteAheadLog)
