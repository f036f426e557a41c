import { EnvId, OrgId, type ProjectId } from "@coffer/domain/base/Ids"
import { EnvName, OrgName, ProjectName } from "@coffer/domain/base/Names"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { databaseTime, query, type Sql, sql } from "../../database/Query.js"
import { liveEnv } from "./PlaceRow.js"
import { makePurge } from "../../database/jobs/Purge.js"

/** How long the name that a protected place had is given out only with votes. */
const heldMillis = Duration.toMillis("30 days")

export const freedNamePurge = makePurge({ table: "freed_names", key: "kind, parent_id, name" })

/** A place with its name, which is unique on the server, in an organization, or in a project. */
export type NamedPlace =
  | { readonly kind: "org"; readonly id: OrgId; readonly name: OrgName }
  | { readonly kind: "project"; readonly id: ProjectId; readonly orgId: OrgId; readonly name: ProjectName }
  | { readonly kind: "env"; readonly id: EnvId; readonly projectId: ProjectId; readonly name: EnvName }

const parentOf = (place: NamedPlace): string => {
  switch (place.kind) {
    case "org":
      return ""
    case "project":
      return place.orgId
    case "env":
      return place.projectId
  }
}

const keyOf = (place: NamedPlace) => ({ kind: place.kind, parentId: parentOf(place), name: place.name })

const freedFields = {
  place_id: Schema.String,
  expires_at: Schema.Number,
  env_id: EnvId,
  is_protected: Schema.Literal(0, 1),
  /** Whether the organization of the environment exists and has the actor as a member. */
  is_member: Schema.Literal(0, 1)
}
const FreedRow = Schema.Union(
  Schema.Struct({ ...freedFields, org_id: OrgId, org: OrgName, project: ProjectName, env: EnvName }),
  // Nothing of the environment is left.
  Schema.Struct({ ...freedFields, org_id: Schema.Null, org: Schema.Null, project: Schema.Null, env: Schema.Null })
)

/**
 * Names that protected places had. Consumers may still read by them, so whoever takes one needs the votes that a change of the place
 * needed. Call these in the transaction of the change, and `find` after the statement that takes the name: a rename that has just
 * freed it is then committed.
 */
export const freedNamesRepo = Effect.map(query, ({ first, write }) => {
  const freeing = <Name extends string>(condition: Sql<Name>) => write`
    INSERT INTO freed_names (kind, parent_id, name, place_id, env_id, expires_at)
    SELECT CAST(${"kind"} AS TEXT), CAST(${"parentId"} AS TEXT), CAST(${"name"} AS TEXT), CAST(${"placeId"} AS TEXT),
      t.env_id, ${databaseTime} + ${"heldMillis"}
    FROM environments e JOIN projects p ON p.id = e.project_id AND p.removed_at IS NULL
    JOIN protections t ON t.env_id = e.id AND t.removed_at IS NULL
    WHERE e.protected = 1 AND ${liveEnv} AND ${condition}
    ORDER BY t.needed DESC, e.id LIMIT 1
    ON CONFLICT (kind, parent_id, name) DO UPDATE SET place_id = excluded.place_id, env_id = excluded.env_id,
      expires_at = excluded.expires_at`

  const freeingOf = {
    org: freeing(sql`p.org_id = ${"placeId"}`),
    project: freeing(sql`p.id = ${"placeId"}`),
    env: freeing(sql`e.id = ${"placeId"}`)
  }

  const find = first(FreedRow)`
    SELECT f.place_id AS place_id, f.expires_at AS expires_at, f.env_id AS env_id, e.name AS env, p.name AS project,
      o.id AS org_id, o.name AS org, CASE WHEN t.env_id IS NULL THEN 0 ELSE 1 END AS is_protected,
      CASE WHEN o.removed_at IS NULL AND m.id IS NOT NULL THEN 1 ELSE 0 END AS is_member
    FROM freed_names f LEFT JOIN environments e ON e.id = f.env_id LEFT JOIN projects p ON p.id = e.project_id
    LEFT JOIN organizations o ON o.id = p.org_id
    LEFT JOIN protections t ON t.env_id = f.env_id AND t.removed_at IS NULL
    LEFT JOIN members m ON m.org_id = o.id AND m.user_id = ${"actorId"} AND m.removed_at IS NULL
    WHERE f.kind = ${"kind"} AND f.parent_id = ${"parentId"} AND f.name = ${"name"} AND f.expires_at > ${databaseTime}`

  const forget = write`
    DELETE FROM freed_names WHERE kind = ${"kind"} AND parent_id = ${"parentId"} AND name = ${"name"}`

  return {
    /** Notes the name of a place before the place loses it, if it holds a protected environment. */
    free: (place: NamedPlace) => freeingOf[place.kind]({ ...keyOf(place), placeId: place.id, heldMillis }),

    /** The name of a place, if another protected place had it. */
    find: (place: NamedPlace, actorId: string) =>
      Effect.map(find({ ...keyOf(place), actorId }), (row) => (row?.place_id === place.id ? undefined : row)),

    /** Ends the hold of a name that has been given out. */
    forget: (place: NamedPlace) => forget(keyOf(place))
  } as const
})
