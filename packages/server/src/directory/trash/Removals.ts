import { type Actor, actorName } from "@coffer/domain/access/Actor"
import { Conflict } from "@coffer/domain/errors/Errors"
import type { EnvId, OrgId, ProjectId } from "@coffer/domain/base/Ids"
import type { OrgName } from "@coffer/domain/base/Names"
import { orgNameInUse } from "@coffer/domain/directory/OrgNameRefusals"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { restorable } from "../../access/place/RemovedPlaces.js"
import { ServerConfig } from "../../base/Config.js"
import { databaseTime, query, sql } from "../../database/Query.js"

const dayMillis = 24 * 60 * 60 * 1000

/** A place that is removed: what holds it is null where nothing does. */
export type RemovedPlace = { readonly orgId: OrgId; readonly name: string } & (
  | { readonly kind: "org"; readonly id: OrgId; readonly projectId: null }
  | { readonly kind: "project"; readonly id: ProjectId; readonly projectId: null }
  | { readonly kind: "env"; readonly id: EnvId; readonly projectId: ProjectId }
)

const FoundRow = Schema.Struct({ found: Schema.Number })

/** The error for an organization name that somebody else has. It does not say whether that organization was removed. */
export const orgNameTaken = (name: OrgName) => new Conflict({ message: orgNameInUse(name) })

/** Notes what is removed, so that it can be restored, and keeps the names of removed organizations. */
export const makeRemovals = Effect.gen(function* () {
  const { trashDays } = yield* ServerConfig
  const { first, write } = yield* query

  const until = sql`${databaseTime} + ${"millis"}`

  // An environment that ends can be restored until its end.
  const insert = write`
    INSERT INTO trash (place_id, kind, org_id, project_id, name, removed_by, removed_at, restorable_until, erasing)
    SELECT ${"id"}, ${"kind"}, ${"orgId"}, ${"projectId"}, ${"name"}, ${"by"}, ${databaseTime},
      CASE WHEN e.expires_at < ${until} THEN e.expires_at ELSE ${until} END, ${"erasing"}
    FROM (SELECT 1 AS one) x LEFT JOIN environments e ON e.id = ${"id"}`

  const reserved = first(FoundRow)`
    SELECT 1 AS found FROM trash t
    WHERE t.kind = 'org' AND t.name = ${"name"} AND ${restorable} AND NOT EXISTS (
      SELECT 1 FROM members m
      WHERE m.org_id = t.place_id AND m.user_id = ${"userId"} AND m.role = 'owner' AND m.removed_at IS NULL)
    LIMIT 1`

  const note = ({ id, kind, name, orgId, projectId }: RemovedPlace, by: string, erasing: 0 | 1) =>
    insert({ id, kind, orgId, projectId, name, by, erasing, millis: trashDays * dayMillis })

  return {
    /** Notes that somebody removed a place. Call it in the transaction of the removal. */
    removed: (place: RemovedPlace, actor: Actor) => note(place, actorName(actor), 0),

    /** Notes that a place has ended: its values are erased. It lasted as long as it was meant to, so nothing brings it back. */
    ended: (place: RemovedPlace) => note(place, "expiry", 1),

    /**
     * Fails if a name is kept for the owners of a removed organization, to whom the actor does not belong. Call it after an organization
     * got the name: only then is every removal visible that made it free.
     */
    checkName: (actor: Actor, name: OrgName) =>
      actor.type === "user" && actor.superadmin
        ? Effect.void
        : Effect.flatMap(reserved({ name, userId: actor.id }), (found) =>
            found === undefined ? Effect.void : orgNameTaken(name)
          )
  } as const
})
