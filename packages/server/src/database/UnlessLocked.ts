import * as Effect from "effect/Effect"
import { Database } from "./Database.js"
import { type Sql, sql } from "./Query.js"

/**
 * The end of a subquery that leaves out the rows that another transaction has locked, and locks the others. A transaction that
 * changes many rows then waits for none of them, whatever order others lock them in.
 */
export const unlessLocked = Effect.map(Database, ({ rowLock }): Sql<never> =>
  rowLock === null ? sql`` : sql`FOR NO KEY UPDATE SKIP LOCKED`
)
