import * as Effect from "effect/Effect"
import { query, sql } from "../../database/Query.js"
import { joinPlace, orgOfPath, placeColumns, placeIn, PlaceRow } from "./PlaceRow.js"

/** Reads a place with the actor's role and rules. */
export const accessRepo = Effect.map(query, ({ first }) => {
  const actorId = sql`${"actorId"}`
  const find = first(PlaceRow)`
    SELECT ${placeColumns(actorId)} FROM organizations o ${joinPlace(actorId)} WHERE ${orgOfPath}`
  return {
    place: (names: Parameters<typeof find>[0]) =>
      Effect.map(find(names), (row) => (row === undefined ? null : placeIn(row)))
  }
})
