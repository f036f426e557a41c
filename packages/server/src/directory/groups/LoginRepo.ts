import { OrgId } from "@coffer/domain/base/Ids"
import { GroupName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { databaseTime, query } from "../../database/Query.js"
import { makePurge } from "../../database/jobs/Purge.js"

const OrgRow = Schema.Struct({ org_id: OrgId, accepted_at: Schema.NullOr(Schema.String) })

const MappedRow = Schema.Struct({
  provider_group: Schema.String,
  group_name: GroupName,
  /** Whether an earlier login brought the person into the group, and still counts. */
  is_held: Schema.Literal(0, 1)
})
export type MappedRow = typeof MappedRow.Type

export const loginGroupPurge = makePurge({ table: "login_groups", key: "user_id, org_id, provider_group" })

export const loginGroupsRepo = Effect.map(
  query,
  ({ all, lockingSoon, write }) =>
    ({
      /** Locks a person's memberships of organizations: a removal waits, and deletes what the login brought. */
      hold: lockingSoon`
        SELECT id FROM members WHERE user_id = ${"userId"} AND removed_at IS NULL ORDER BY org_id`,

      /** The organizations of a person that map groups. */
      orgs: all(OrgRow)`
        SELECT m.org_id AS org_id, m.accepted_at AS accepted_at FROM members m JOIN organizations o ON o.id = m.org_id AND o.removed_at IS NULL
        WHERE m.user_id = ${"userId"} AND m.removed_at IS NULL
          AND EXISTS (SELECT 1 FROM group_mappings x WHERE x.org_id = m.org_id)
        ORDER BY m.org_id`,

      mapped: all(MappedRow)`
        SELECT x.provider_group AS provider_group, g.name AS group_name,
          CASE WHEN EXISTS (
            SELECT 1 FROM login_groups lg
            WHERE lg.user_id = ${"userId"} AND lg.org_id = x.org_id AND lg.provider_group = x.provider_group
              AND lg.expires_at > ${databaseTime}) THEN 1 ELSE 0 END AS is_held
        FROM group_mappings x JOIN groups g ON g.id = x.group_id
        WHERE x.org_id = ${"orgId"} ORDER BY x.provider_group, g.name`,

      removeAll: write`DELETE FROM login_groups WHERE user_id = ${"userId"}`,

      insert: write`
        INSERT INTO login_groups (user_id, org_id, provider_group, expires_at)
        VALUES (${"userId"}, ${"orgId"}, ${"providerGroup"}, ${databaseTime} + ${"maxAge"})`
    }) as const
)
