import type { Permission } from "@coffer/domain/access/AclRule"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { pacing } from "../base/EventLoop.js"
import { listed, valuesOf } from "../database/ListedValues.js"
import { query, sql } from "../database/Query.js"
import { AuditIndex } from "./AuditIndex.js"
import { actionsOf } from "./UseActions.js"

const UseRow = Schema.Struct({ actor_id: Schema.String, used_at: Schema.NullOr(Schema.String) })

/** An environment by its present names, of which entries of the log are looked up. */
export interface UsedPlace {
  readonly log: string
  readonly project: string
  readonly env: string
  /** Only uses of this secret. */
  readonly key?: string | undefined
}

/** How many actors one statement looks up. With a key, there is a place for each set of keys that was read together. */
const actorsAtOnce = (key: string | undefined): number => (key === undefined ? 50 : 5)

const ReviewRow = Schema.Struct({ by: Schema.String, at: Schema.String })

const inPlace = sql`p.log = ${"log"} AND p.project = ${"project"} AND p.env = ${"env"}`

/** The newest use of each run at some places. Postings whose entries left for archives went with them. */
const usesAt = (actors: ReadonlyArray<string>, actions: ReadonlyArray<string>, key: string | undefined) => sql`
  SELECT k.actor_id AS actor_id, (SELECT a.created_at FROM audit_entries a
      WHERE a.position = (SELECT max(e.position) FROM audit_postings e WHERE e.run = k.id)) AS used_at
  FROM ${
    key === undefined
      ? sql`audit_places p CROSS JOIN audit_place_counters k WHERE ${inPlace} AND p.keys = '' AND p.actor_name = ''`
      : sql`audit_place_keys x CROSS JOIN audit_places p CROSS JOIN audit_place_counters k
          WHERE x.key = ${"key"} AND x.log = ${"log"} AND p.id = x.place AND ${inPlace}`
  }
    AND k.place = p.id AND k.actor_id IN (${listed("actor", actors)}) AND k.action IN (${listed("action", actions)})`

/** Looks up in the search index of the audit log when actors last used a permission in an environment. */
export const makePlaceUses = Effect.gen(function* () {
  const { run } = yield* query
  const index = yield* AuditIndex
  const uses = run(UseRow)

  /** The time of each actor's last use that is in the log. */
  return Effect.fnUntraced(function* (place: UsedPlace, permission: Permission, actors: ReadonlyArray<string>) {
    const last = new Map<string, string>()
    if (actors.length === 0) return last
    yield* index.catchUp(place.log)
    const pace = pacing()
    const actions = actionsOf(permission)
    const { env, key, log, project } = place
    for (const some of Array.chunksOf(actors, actorsAtOnce(key))) {
      const found = yield* uses(usesAt(some, actions, key), {
        ...{ log, project, env, key: key ?? null },
        ...valuesOf("actor", some),
        ...valuesOf("action", actions)
      })
      for (const { actor_id, used_at } of found) {
        if (used_at !== null && used_at > (last.get(actor_id) ?? "")) last.set(actor_id, used_at)
      }
      yield* pace
    }
    return last
  })
})

/** Looks up the newest review of who has access to an environment. */
export const makeLastReview = Effect.gen(function* () {
  const { first } = yield* query
  const index = yield* AuditIndex
  const find = first(ReviewRow)`
    SELECT a.actor_name AS by, a.created_at AS at FROM audit_entries a WHERE a.position = (
      SELECT max((SELECT max(e.position) FROM audit_postings e WHERE e.run = k.id))
      FROM audit_places p CROSS JOIN audit_place_counters k
      WHERE ${inPlace} AND p.keys = '' AND p.actor_name = '' AND k.place = p.id AND k.action = 'acl.review')`
  return ({ env, log, project }: Omit<UsedPlace, "key">) =>
    Effect.zipRight(index.catchUp(log), find({ log, project, env }))
})
