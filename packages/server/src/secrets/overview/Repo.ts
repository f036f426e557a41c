import { ProjectId } from "@coffer/domain/base/Ids"
import { EnvName, ProjectName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { liveEnv } from "../../access/place/PlaceRow.js"
import { query } from "../../database/Query.js"
import { CountRow } from "../../database/Rows.js"

const ProjectRow = Schema.Struct({ name: ProjectName })

/** An environment with its kept total, and its last change. */
const EnvironmentRow = Schema.Struct({
  project_id: ProjectId,
  project: ProjectName,
  env: EnvName,
  secrets: Schema.Number,
  changed_at: Schema.NullOr(Schema.String),
  changed_by: Schema.NullOr(Schema.String)
})
export type EnvironmentRow = typeof EnvironmentRow.Type

export const overviewRepo = Effect.map(query, ({ all, one }) => ({
  count: one(CountRow)`
    SELECT count(*) AS count FROM projects
    WHERE org_id = ${"orgId"} AND removed_at IS NULL AND (CAST(${"onlyId"} AS TEXT) IS NULL OR id = ${"onlyId"})`,

  projects: all(ProjectRow)`
    SELECT name FROM projects
    WHERE org_id = ${"orgId"} AND removed_at IS NULL AND name > ${"after"}
      AND (CAST(${"onlyId"} AS TEXT) IS NULL OR id = ${"onlyId"})
    ORDER BY name LIMIT ${"limit"}`,

  /** Few deliveries of a webhook have a next try: those behind a failing one have none. */
  failingWebhooks: one(CountRow)`
    SELECT count(*) AS count FROM webhooks w
    WHERE w.org_id = ${"orgId"} AND w.removed_at IS NULL AND CASE WHEN w.enabled = 0 THEN w.failed_at IS NOT NULL ELSE EXISTS (
      SELECT 1 FROM webhook_deliveries d
      WHERE d.webhook_id = w.id AND d.state = 'pending' AND d.next_at IS NOT NULL AND d.kind = 'event' AND d.tries > 0) END`,

  /** The environments after a place, up to those of a last project. The last change of each takes two index lookups. */
  environments: all(EnvironmentRow)`
    SELECT p.id AS project_id, p.name AS project, e.name AS env, e.secret_count AS secrets,
      c.created_at AS changed_at, c.created_by AS changed_by
    FROM projects p JOIN environments e ON e.project_id = p.id AND ${liveEnv}
    LEFT JOIN secret_changes c ON c.env_id = e.id AND c.revision = e.revision AND c.key = (
      SELECT min(key) FROM secret_changes WHERE env_id = e.id AND revision = e.revision)
    WHERE p.org_id = ${"orgId"} AND p.removed_at IS NULL AND p.name >= ${"project"} AND p.name <= ${"last"}
      AND (p.name > ${"project"} OR e.name > ${"env"})
      AND (CAST(${"onlyId"} AS TEXT) IS NULL OR p.id = ${"onlyId"})
    ORDER BY p.name, e.name LIMIT ${"limit"}`
}))
