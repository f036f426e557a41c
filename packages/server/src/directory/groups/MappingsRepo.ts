import { GroupId } from "@coffer/domain/base/Ids"
import { GroupName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { query } from "../../database/Query.js"

const MappingRow = Schema.Struct({ provider_group: Schema.String, group: GroupName, group_id: GroupId })
const NamedRow = Schema.Struct({ id: GroupId, name: GroupName })

export const mappingsRepo = Effect.map(
  query,
  ({ all, insert, write }) =>
    ({
      /** All of an organization: at most 200. */
      all: all(MappingRow)`
        SELECT x.provider_group AS provider_group, g.name AS "group", x.group_id AS group_id
        FROM group_mappings x JOIN groups g ON g.id = x.group_id
        WHERE x.org_id = ${"orgId"} ORDER BY x.provider_group, g.name`,

      /** All of an organization: at most 200. */
      groups: all(NamedRow)`SELECT id, name FROM groups WHERE org_id = ${"orgId"} AND removed_at IS NULL`,

      insert: insert("group_mappings", ["org_id", "provider_group", "group_id"]),

      remove: write`
        DELETE FROM group_mappings
        WHERE org_id = ${"orgId"} AND provider_group = ${"providerGroup"} AND group_id = ${"groupId"}`
    }) as const
)
