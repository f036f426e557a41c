import { EnvId, OrgId, ProjectId } from "@coffer/domain/base/Ids"
import { EnvName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Place } from "../../access/Access.js"
import { type Due, makeExpiry } from "../../audit/Expiry.js"
import { timestamp } from "../../base/Time.js"
import { databaseTime, query, sql } from "../../database/Query.js"
import { makeRemovals } from "../../directory/trash/Removals.js"

const EndingRow = Schema.Struct({
  id: EnvId,
  env: EnvName,
  expires_at: Schema.Number,
  project: Schema.String,
  project_id: ProjectId,
  /** Null if the project or its organization was removed: the environment goes with that. */
  org_id: Schema.NullOr(OrgId)
})
const NamedRow = Schema.Struct({ id: EnvId, expires_at: Schema.Number })

const hasEnded = sql`removed_at IS NULL AND expires_at <= ${databaseTime}`

const expiryOf = (action: "env.expire" | "env.expiring") => ({
  table: "environments",
  row: EndingRow,
  select: (due: Due) => sql`
    SELECT e.id AS id, e.name AS env, e.expires_at AS expires_at, p.name AS project, e.project_id AS project_id, o.id AS org_id
    FROM ${due} e JOIN projects p ON p.id = e.project_id
    LEFT JOIN organizations o ON o.id = p.org_id AND o.removed_at IS NULL AND p.removed_at IS NULL`,
  entry: ({ env, expires_at, id, project }: typeof EndingRow.Type) =>
    ({
      place: { project, env },
      action,
      resource_type: "env",
      resource_id: id,
      metadata: { name: env, expires_at: timestamp(expires_at) }
    }) as const
})

/** Announces environments a day before they end, once for each end. An import that is hidden announces nothing yet. */
export const environmentNotice = makeExpiry({
  ...expiryOf("env.expiring"),
  notice: 24 * 60 * 60 * 1000,
  due: sql`removed_at IS NULL AND expires_at > ${databaseTime} AND expires_at <= ${databaseTime} + ${"notice"}
    AND (announced_end IS NULL OR announced_end <> expires_at) AND EXISTS (
      SELECT 1 FROM projects p JOIN organizations o ON o.id = p.org_id AND o.removed_at IS NULL
      WHERE p.id = environments.project_id AND p.removed_at IS NULL)`,
  mark: sql`announced_end = expires_at`
})

/** Removes environments that have ended, and lets their values be erased. Nothing enters them before that. */
export const environmentExpiry = Effect.flatMap(makeRemovals, (removals) =>
  makeExpiry({
    ...expiryOf("env.expire"),
    due: hasEnded,
    mark: sql`removed_at = ${"now"}, revision = revision + 1`,
    andThen: ({ env: name, id, project_id: projectId }, orgId) =>
      removals.ended({ kind: "env", id, orgId, projectId, name })
  })
)

/** Removes what has ended and still has a name, in the transaction that gives the name to another. */
export const makeNameExpiry = Effect.gen(function* () {
  const { expire } = yield* environmentExpiry
  const { first } = yield* query

  const ended = first(NamedRow)`
    SELECT id, expires_at FROM environments WHERE project_id = ${"projectId"} AND name = ${"name"} AND ${hasEnded}`

  return ({ org, project }: Place<"env.create"> | Place<"env.restore">, env: EnvName) =>
    Effect.flatMap(ended({ projectId: project.id, name: env }), (row) =>
      row === undefined
        ? Effect.void
        : expire({ ...row, env, project: project.name, project_id: project.id, org_id: org.id })
    )
})
