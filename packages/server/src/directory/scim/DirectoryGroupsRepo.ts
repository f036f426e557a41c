import { GroupId, ScimUserId } from "@coffer/domain/base/Ids"
import { GroupName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { allPages } from "../../database/Pages.js"
import { query, sql } from "../../database/Query.js"

const DirectoryGroupRow = Schema.Struct({
  id: GroupId,
  name: GroupName,
  display_name: Schema.String,
  external_id: Schema.NullOr(Schema.String),
  revision: Schema.Number,
  created_at: Schema.String,
  updated_at: Schema.String
})
export type DirectoryGroupRow = typeof DirectoryGroupRow.Type

const ListedRow = Schema.Struct({ id: ScimUserId, email: Schema.String })

const group = sql`
  SELECT g.id AS id, g.name AS name, s.display_name AS display_name, s.external_id AS external_id,
    s.revision AS revision, g.created_at AS created_at, g.updated_at AS updated_at
  FROM scim_groups s JOIN groups g ON g.id = s.id AND g.removed_at IS NULL WHERE s.org_id = ${"orgId"}`

export const directoryGroupsRepo = Effect.gen(function* () {
  const { all, first, insert, write } = yield* query
  const pages = yield* allPages

  const listedPage = all(ListedRow)`
    SELECT s.id AS id, s.email AS email FROM scim_group_members sm JOIN scim_users s ON s.id = sm.scim_user_id
    WHERE sm.group_id = ${"groupId"} AND sm.scim_user_id > ${"after"} ORDER BY sm.scim_user_id LIMIT ${"limit"}`

  return {
    /** The groups that the directory of an organization made: at most 200. */
    all: all(DirectoryGroupRow)`${group} ORDER BY s.id`,

    find: first(DirectoryGroupRow)`${group} AND s.id = ${"id"}`,

    byName: first(DirectoryGroupRow)`${group} AND s.name_key = ${"key"}`,

    /** Whom the directory has listed in a group. */
    listed: (groupId: GroupId) =>
      pages(
        "",
        (after, limit) => listedPage({ groupId, after, limit }),
        ({ id }): string => id
      ),

    insert: insert("scim_groups", ["id", "org_id", "display_name", "name_key", "external_id", "revision"]),

    update: write`
      UPDATE scim_groups SET display_name = ${"displayName"}, name_key = ${"key"}, external_id = ${"externalId"},
        revision = revision + 1
      WHERE id = ${"id"}`,

    /** Notes when a group was changed. */
    touch: write`UPDATE groups SET updated_at = ${"now"} WHERE id = ${"id"}`,

    list: insert("scim_group_members", ["group_id", "scim_user_id"]),

    unlist: write`DELETE FROM scim_group_members WHERE group_id = ${"groupId"} AND scim_user_id = ${"id"}`
  } as const
})
