import type { DelegatedPlace } from "@coffer/domain/access/Actor"
import { EnvId, ProjectId } from "@coffer/domain/base/Ids"
import { EnvName, ProjectName } from "@coffer/domain/base/Names"
import * as Array from "effect/Array"
import * as Order from "effect/Order"
import { liveAs } from "../place/PlaceRow.js"
import { sql } from "../../database/Query.js"

/** The organization of a delegation `d`, which ends with it. */
export const delegatedOrg = sql`JOIN organizations dg ON dg.id = d.org_id AND dg.removed_at IS NULL`

/**
 * The live environments of a delegation `d` as one column, which `placesIn` reads: a row for each would repeat all other columns.
 * Null if none is left. Ids and names have neither spaces nor commas.
 */
export const delegatedPlaces = sql`
  (SELECT string_agg(dx.position || ' ' || dp.id || ' ' || dp.name || ' ' || de.id || ' ' || de.name, ',')
    FROM (SELECT 0 AS position, d.env_id AS env_id
      UNION ALL SELECT dn.position, dn.env_id FROM delegation_environments dn WHERE dn.delegation_id = d.id) dx
    CROSS JOIN environments de CROSS JOIN projects dp
    WHERE de.id = dx.env_id AND ${liveAs("de")} AND dp.id = de.project_id AND dp.removed_at IS NULL)`

const byPosition = Order.mapInput(Order.number, ({ position }: { readonly position: number }) => position)

/** The environments of a column `delegatedPlaces`, in the order of the person. */
export const placesIn = (column: string | null): ReadonlyArray<DelegatedPlace> =>
  column === null
    ? []
    : Array.sort(
        column.split(",").map((text) => {
          const [position = "", projectId = "", project = "", envId = "", env = ""] = text.split(" ")
          return {
            position: Number(position),
            project: { id: ProjectId.make(projectId), name: ProjectName.make(project) },
            env: { id: EnvId.make(envId), name: EnvName.make(env) }
          }
        }),
        byPosition
      ).map(({ env, project }) => ({ env, project }))

/** The row of a delegation with its environments; undefined if none is left, with which it has ended. */
export const withPlaces = <Row extends { readonly places: string | null }>(row: Row | undefined) => {
  const places = placesIn(row?.places ?? null)
  return row !== undefined && Array.isNonEmptyReadonlyArray(places) ? { ...row, places } : undefined
}
