import { GroupId } from "@coffer/domain/base/Ids"
import { GroupName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { query } from "../../database/Query.js"
import { ofDirectory } from "./Repo.js"

const MappingRow = Schema.Struct({ provider_group: Schema.String, group: GroupName, group_id: GroupId })
const NamedRow = Schema.Struct({ id: GroupId, name: GroupName, is_directory: Schema.Literal(0, 1) })

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
      groups: all(NamedRow)`
        SELECT g.id AS id, g.name AS name, CASE WHEN ${ofDirectory} THEN 1 ELSE 0 END AS is_directory
        FROM groups g WHERE g.org_id = ${"orgId"} AND g.removed_at IS NULL`,

      insert: insert("group_mappings", ["org_id", "provider_group", "group_id"]),

      remove: write`
        DELETE FROM group_mappings
        WHERE org_id = ${"orgId"} AND provider_group = ${"providerGroup"} AND group_id = ${"groupId"}`
    }) as const
)
