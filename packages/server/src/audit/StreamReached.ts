import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { ServerConfig } from "../base/Config.js"
import { Database } from "../database/Database.js"
import { query } from "../database/Query.js"
import { streamPlaces } from "./StreamPlaces.js"

const PlaceRow = Schema.Struct({ log: Schema.String, seq: Schema.Number })

/** The entries that the audit stream has taken of each log: nothing of a log that it has not begun. Null without a stream. */
export const streamReached = Effect.gen(function* () {
  const { auditStream, dbPath } = yield* ServerConfig
  const { isShared } = yield* Database
  const { all } = yield* query
  const placesOf = all(PlaceRow)`SELECT log, seq FROM stream_places WHERE target = ${"target"}`
  if (auditStream === null) return Effect.succeed(null)
  const target = auditStream === "stdout" ? auditStream : auditStream.file
  const { load } = yield* streamPlaces(dbPath, target)
  return isShared
    ? Effect.map(placesOf({ target }), (rows) => new Map(rows.map(({ log, seq }) => [log, seq])))
    : Effect.map(load, (found) => found ?? new Map<string, number>())
})
