import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { query, sql } from "../database/Query.js"
import { Fence } from "../database/jobs/Lease.js"
import type { Places } from "./StreamPlaces.js"

const PlaceRow = Schema.Struct({ log: Schema.String, seq: Schema.Number })

/** Keeps the places of the stream to a target in the database, so that the next server goes on where this one stopped. */
export const sharedStreamPlaces = (target: string) =>
  Effect.gen(function* () {
    const { all, insert } = yield* query
    const fenced = yield* Fence
    const placesOf = all(PlaceRow)`SELECT log, seq FROM stream_places WHERE target = ${"target"}`
    const store = insert(
      "stream_places",
      ["target", "log", "seq"],
      sql`ON CONFLICT (target, log) DO UPDATE SET seq = excluded.seq`
    )
    let saved: Places = new Map()

    return {
      load: Effect.map(placesOf({ target }), (rows): Places | null => {
        saved = new Map(rows.map(({ log, seq }) => [log, seq]))
        return saved
      }),

      /** Stores the places that have changed. A server that has lost its lease does not set them back. */
      save: (places: Places) =>
        Effect.gen(function* () {
          const changed = [...places].filter(([log, seq]) => saved.get(log) !== seq)
          yield* fenced(store(changed.map(([log, seq]) => ({ target, log, seq }))))
          saved = new Map(places)
        })
    } as const
  })
