import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { liveEnv } from "../../access/PlaceRow.js"
import { query, sql } from "../../database/Query.js"

const count = Schema.Number
const CountsRow = Schema.Struct({
  projects: count,
  environments: count,
  secrets: count,
  versions: count,
  use_rules: count,
  declared: count,
  members: count,
  groups: count,
  accounts: count,
  rules: count,
  webhooks: count
})

const environments = sql`
  projects p JOIN environments e ON e.project_id = p.id AND ${liveEnv}
    AND p.org_id = ${"orgId"} AND p.removed_at IS NULL`
const secrets = sql`${environments} JOIN secrets s ON s.env_id = e.id AND s.removed_at IS NULL`
const ofOrg = sql`org_id = ${"orgId"} AND removed_at IS NULL`

/** How many records an organization has, as an archive counts them, also of one that is hidden. Rules of requests do not count. */
export const archiveCounts = Effect.map(
  query,
  ({ one }) => one(CountsRow)`
    SELECT
      (SELECT count(*) FROM projects WHERE ${ofOrg}) AS projects,
      (SELECT count(*) FROM ${environments}) AS environments,
      (SELECT count(*) FROM ${secrets}) AS secrets,
      (SELECT count(*) FROM ${secrets} JOIN secret_versions v ON v.secret_id = s.id) AS versions,
      (SELECT count(*) FROM ${secrets} JOIN use_rules r ON r.secret_id = s.id AND r.removed_at IS NULL) AS use_rules,
      (SELECT count(*) FROM projects p JOIN declared_keys d ON d.project_id = p.id
        WHERE p.org_id = ${"orgId"} AND p.removed_at IS NULL) AS declared,
      (SELECT count(*) FROM members WHERE ${ofOrg}) AS members,
      (SELECT count(*) FROM groups WHERE ${ofOrg}) AS groups,
      (SELECT count(*) FROM service_accounts WHERE ${ofOrg}) AS accounts,
      (SELECT count(*) FROM acl_rules r WHERE r.org_id = ${"orgId"} AND r.removed_at IS NULL AND r.request_id IS NULL) AS rules,
      (SELECT count(*) FROM webhooks WHERE ${ofOrg}) AS webhooks`
)
