import { unusedDays } from "@coffer/domain/base/Usage"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { pacing } from "../base/EventLoop.js"
import { ago } from "../base/Time.js"
import { listed, valuesOf } from "../database/ListedValues.js"
import { joined, query, sql } from "../database/Query.js"
import { AuditIndex } from "./AuditIndex.js"
import { makeRanges } from "./Ranges.js"
import { useActions } from "./UseActions.js"

/** The start of the days in which something counts as used. */
export const usedSince = ago(unusedDays * 24 * 60 * 60 * 1000)

/** The part of a log that tells what was used lately. */
export interface UseWindow {
  readonly log: string
  readonly since: string
  /** The first position at or after `since`. */
  readonly position: number
  /** Whether the log has entries from before, so that one without entries was not used. */
  readonly reaches: boolean
}

interface UsedPlace {
  readonly project: string
  readonly env: string
}

const UseRow = Schema.Struct({
  project: Schema.String,
  env: Schema.String,
  actor_id: Schema.String,
  action: Schema.String,
  is_recent: Schema.Number
})
export type UseRow = typeof UseRow.Type

/** How many places one statement looks up: each has a row for each actor and action. */
const placesAtOnce = 20

const placesOf = (places: ReadonlyArray<UsedPlace>) =>
  joined(
    places.map((_, index) => sql`(CAST(${`project_${index}`} AS TEXT), CAST(${`env_${index}`} AS TEXT))`),
    sql`, `
  )

const usesAt = (places: ReadonlyArray<UsedPlace>, actorId: string | undefined) => sql`
  SELECT p.project AS project, p.env AS env, k.actor_id AS actor_id, k.action AS action,
    CASE WHEN EXISTS (SELECT 1 FROM audit_postings e WHERE e.run = k.id AND e.position >= ${"position"})
      THEN 1 ELSE 0 END AS is_recent
  FROM (VALUES ${placesOf(places)}) w CROSS JOIN audit_places p CROSS JOIN audit_place_counters k
  WHERE p.log = ${"log"} AND p.project = w.column1 AND p.env = w.column2 AND p.keys = '' AND p.actor_name = ''
    AND k.place = p.id AND k.action IN (${listed("action", useActions)})
    ${actorId === undefined ? sql`` : sql`AND k.actor_id = ${"actorId"}`}`

/**
 * Looks up in the search index of the audit log what was done at places lately. The work grows with the places and with those who
 * did something there, and not with the log.
 */
export const makeRecentUses = Effect.gen(function* () {
  const { run } = yield* query
  const index = yield* AuditIndex
  const ranges = yield* makeRanges
  const uses = run(UseRow)

  return {
    /** The window of a log, whose index has all entries then. */
    window: Effect.fnUntraced(function* (log: string) {
      yield* index.catchUp(log)
      const since = yield* usedSince
      const window: UseWindow = { log, since, ...(yield* ranges.since(log, since)) }
      return window
    }),

    /** Whoever did something at some places, of one actor only, if given; each with whether it was lately. */
    at: Effect.fnUntraced(function* ({ log, position }: UseWindow, places: ReadonlyArray<UsedPlace>, actorId?: string) {
      const found: Array<UseRow> = []
      const pace = pacing()
      for (const some of Array.chunksOf(places, placesAtOnce)) {
        const rows = yield* uses(usesAt(some, actorId), {
          ...{ log, position, actorId: actorId ?? null },
          ...valuesOf("action", useActions),
          ...valuesOf(
            "project",
            some.map(({ project }) => project)
          ),
          ...valuesOf(
            "env",
            some.map(({ env }) => env)
          )
        })
        for (const row of rows) found.push(row)
        yield* pace
      }
      return found
    })
  } as const
})
