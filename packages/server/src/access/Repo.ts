import * as Effect from "effect/Effect"
import { query, sql } from "../database/Query.js"
import { joinPlace, orgOfPath, placeColumns, placeIn, PlaceRow } from "./PlaceRow.js"

/** Reads a place with the actor's role and rules. */
export const accessRepo = Effect.map(query, ({ all }) => {
  const rows = all(PlaceRow)`
    SELECT ${placeColumns} FROM organizations o ${joinPlace(sql`${"actorId"}`)} WHERE ${orgOfPath}`
  return { place: (names: Parameters<typeof rows>[0]) => Effect.map(rows(names), placeIn) }
})
