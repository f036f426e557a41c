import { EnvId, OrgId, RequestId } from "@coffer/domain/base/Ids"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { makeExpiry } from "../../audit/Expiry.js"
import { databaseTime, sql } from "../../database/Query.js"
import { makeSealedCalls } from "./SealedCalls.js"

const EndedRow = Schema.Struct({
  id: RequestId,
  org_id: OrgId,
  env_id: EnvId,
  project: Schema.String,
  env: Schema.String,
  actor_name: Schema.String,
  expires_at: Schema.Number
})

/** Ends requests that did not get enough votes in time, and erases their calls. */
export const requestExpiry = Effect.flatMap(makeSealedCalls, (calls) =>
  makeExpiry({
    table: "requests",
    due: sql`state = 'pending' AND expires_at <= ${databaseTime}`,
    mark: sql`state = 'expired', decided_at = ${"now"}, bytes = 0`,
    row: EndedRow,
    select: (due) => sql`
      SELECT r.id AS id, r.org_id AS org_id, r.env_id AS env_id, p.name AS project, e.name AS env, r.actor_name AS actor_name,
        r.expires_at AS expires_at
      FROM ${due} r JOIN environments e ON e.id = r.env_id JOIN projects p ON p.id = e.project_id`,
    entry: ({ actor_name, env, id, project }) => ({
      place: { project, env },
      action: "request.expire",
      resource_type: "request",
      resource_id: id,
      metadata: { requester: actor_name }
    }),
    andThen: ({ id }) => calls.remove(id)
  })
)
