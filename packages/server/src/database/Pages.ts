import { Effect } from "effect"
import { pacing } from "../EventLoop.js"
import { Database } from "./Database.js"

/** How many rows one statement reads. */
const pageRows = 200

/** Asks for the rows behind a place in their order, so many at most. */
type Page<Row, Place> = (after: Place, limit: number) => Effect.Effect<ReadonlyArray<Row>>

/**
 * Makes the function that reads all rows of a list in pages, as they are at one moment, with turns of the event loop in
 * between: at least `enough` of them, if there are so many. A list of one page is one statement.
 */
export const allPages = Effect.map(
  Database,
  ({ snapshot }) =>
    <Row, Place>(
      start: Place,
      page: Page<Row, Place>,
      placeOf: (row: Row) => Place,
      enough = Infinity
    ): Effect.Effect<ReadonlyArray<Row>> => {
      const behind = Effect.gen(function* () {
        const rows: Array<Row> = []
        const pace = pacing()
        for (let after = start; ;) {
          const found = yield* page(after, pageRows)
          for (const row of found) rows.push(row)
          const last = found.at(-1)
          if (last === undefined || found.length < pageRows || rows.length >= enough) return rows
          after = placeOf(last)
          yield* pace
        }
      })
      return Effect.flatMap(page(start, pageRows), (first) =>
        first.length < pageRows ? Effect.succeed(first) : snapshot(behind)
      )
    }
)
