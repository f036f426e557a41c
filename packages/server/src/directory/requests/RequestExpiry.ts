import { OrgId } from "@coffer/domain/base/Ids"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { mayEnd, stateAfter } from "../../access/gate/RequestStates.js"
import { makeExpiry } from "../../audit/Expiry.js"
import { databaseTime, sql } from "../../database/Query.js"
import { EndingRow, requestEvent } from "./RequestEnds.js"
import { makeSealedCalls } from "./SealedCalls.js"

/** Ends requests that did not get enough votes in time, and erases their calls. */
export const requestExpiry = Effect.flatMap(makeSealedCalls, (calls) =>
  makeExpiry({
    table: "requests",
    due: sql`${mayEnd("expire")} AND expires_at <= ${databaseTime}`,
    mark: sql`state = ${stateAfter("expire")}, decided_at = ${"now"}, bytes = 0`,
    row: Schema.Struct({ ...EndingRow.fields, org_id: OrgId, expires_at: Schema.Number }),
    select: (due) => sql`
      SELECT r.id AS id, r.org_id AS org_id, p.name AS project, e.name AS env, r.actor_name AS actor_name,
        r.expires_at AS expires_at
      FROM ${due} r JOIN environments e ON e.id = r.env_id JOIN projects p ON p.id = e.project_id`,
    entry: (row) => ({ place: { project: row.project, env: row.env }, ...requestEvent(row, "expire") }),
    andThen: ({ id }) => calls.remove(id)
  })
)
