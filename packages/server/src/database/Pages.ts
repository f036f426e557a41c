import * as Effect from "effect/Effect"
import { pacing } from "../base/EventLoop.js"
import { Database } from "./Database.js"

/** How many rows one statement reads. */
const pageRows = 200

/** Reads at most `limit` rows after a position in the order of the list. */
type Page<Row, Place> = (after: Place, limit: number) => Effect.Effect<ReadonlyArray<Row>>

/**
 * Returns a function that reads a whole list in pages from one snapshot, and yields to the event loop between pages. It
 * stops after `enough` rows. A list that fits in one page takes one statement and no snapshot.
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
