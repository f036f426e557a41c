import { Effect } from "effect"
import { joinPlace, orgOfPath, placeColumns, PlaceRow } from "./PlaceRow.js"
import { query, sql } from "../database/Query.js"

/** Reads a place with the actor's role and rules, one row for each rule. */
export class AccessRepo extends Effect.Service<AccessRepo>()("@coffer/server/Repo/AccessRepo", {
  effect: Effect.map(query, ({ all }) => ({
    place: all(PlaceRow)`
      SELECT ${placeColumns} FROM organizations o ${joinPlace(sql`${"actorId"}`)} WHERE ${orgOfPath}`
  }))
}) {}
