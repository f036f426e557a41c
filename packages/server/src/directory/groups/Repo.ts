import { GroupId, type OrgId, UserId } from "@coffer/domain/base/Ids"
import { Email, GroupName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { acceptedMember, liveLogin, liveRule, loginGroups } from "../../access/place/PlaceRow.js"
import { allPages } from "../../database/Pages.js"
import { query, sql } from "../../database/Query.js"
import { CountRow, IdRow } from "../../database/Rows.js"

const GroupRow = Schema.Struct({
  id: GroupId,
  name: GroupName,
  /** Those who were added. */
  added: Schema.Number,
  /** How many groups of the provider stand for it. */
  mapped: Schema.Number,
  rules: Schema.Number,
  /** Whether a directory alone changes its members, by SCIM. */
  is_directory: Schema.Literal(0, 1),
  created_by: Schema.String,
  created_at: Schema.String,
  updated_at: Schema.String
})
export type GroupRow = typeof GroupRow.Type

const MemberRow = Schema.Struct({
  user_id: UserId,
  email: Schema.typeSchema(Email),
  name: Schema.String,
  added_by: Schema.String,
  created_at: Schema.String
})
export type MemberRow = typeof MemberRow.Type

const UserRow = Schema.Struct({ user_id: UserId, email: Schema.typeSchema(Email), name: Schema.String })
const BroughtRow = Schema.Struct({ ...UserRow.fields, provider_group: Schema.String, expires_at: Schema.Number })
export type BroughtRow = typeof BroughtRow.Type
const ProviderGroupRow = Schema.Struct({ provider_group: Schema.String })
const NameRow = Schema.Struct({ name: GroupName })

/** The condition for groups `g` that a directory manages: those that it made, while it has a token. */
export const ofDirectory = sql`EXISTS (
  SELECT 1 FROM scim_groups sg JOIN scim_tokens st ON st.org_id = sg.org_id AND st.expires_at IS NULL WHERE sg.id = g.id)`

const groups = sql`
  SELECT g.id AS id, g.name AS name,
    (SELECT count(*) FROM group_members gm WHERE gm.group_id = g.id) AS added,
    (SELECT count(*) FROM group_mappings x WHERE x.group_id = g.id) AS mapped,
    (SELECT count(*) FROM acl_rules r WHERE r.subject_id = g.id AND r.org_id = g.org_id AND ${liveRule}) AS rules,
    CASE WHEN ${ofDirectory} THEN 1 ELSE 0 END AS is_directory,
    g.created_by AS created_by, g.created_at AS created_at, g.updated_at AS updated_at
  FROM groups g WHERE g.org_id = ${"orgId"} AND g.removed_at IS NULL`

const members = sql`
  SELECT u.id AS user_id, u.email AS email, u.name AS name, gm.added_by AS added_by, gm.created_at AS created_at
  FROM group_members gm JOIN users u ON u.id = gm.user_id WHERE gm.group_id = ${"groupId"}`

/** The condition for logins `lg` that the organization is told of. */
const toldLogin = sql`EXISTS (
  SELECT 1 FROM members m WHERE m.org_id = lg.org_id AND m.user_id = lg.user_id AND ${acceptedMember})`

const brought = sql`
  SELECT u.id AS user_id, u.email AS email, u.name AS name, lg.provider_group AS provider_group,
    lg.expires_at AS expires_at`

export const groupsRepo = Effect.gen(function* () {
  const { all, first, insert, one, returning, write } = yield* query
  const pages = yield* allPages

  const page = all(GroupRow)`${groups} AND g.name > ${"after"} ORDER BY g.name LIMIT ${"limit"}`
  const memberPage = all(MemberRow)`${members} AND gm.user_id > ${"after"} ORDER BY gm.user_id LIMIT ${"limit"}`
  const broughtPage = all(BroughtRow)`
    ${brought} FROM login_groups lg JOIN users u ON u.id = lg.user_id
    WHERE lg.org_id = ${"orgId"} AND lg.provider_group = ${"providerGroup"} AND ${liveLogin} AND ${toldLogin} AND lg.user_id > ${"after"}
    ORDER BY lg.user_id LIMIT ${"limit"}`
  const peoplePage = all(UserRow)`
    SELECT m.user_id AS user_id, u.email AS email, u.name AS name
    FROM members m JOIN users u ON u.id = m.user_id
    WHERE m.org_id = ${"orgId"} AND m.removed_at IS NULL AND u.email > ${"after"}
    ORDER BY u.email LIMIT ${"limit"}`

  return {
    /** The groups of an organization, sorted by name. */
    all: (orgId: OrgId) =>
      pages(
        "",
        (after, limit) => page({ orgId, after, limit }),
        ({ name }): string => name
      ),

    find: first(GroupRow)`${groups} AND g.name = ${"name"}`,

    /** A group whose name is the same but for case. */
    findAlike: first(NameRow)`
      SELECT name FROM groups
      WHERE org_id = ${"orgId"} AND removed_at IS NULL AND lower(name) = lower(${"name"}) AND id <> ${"exceptId"} LIMIT 1`,

    count: one(CountRow)`SELECT count(*) AS count FROM groups WHERE org_id = ${"orgId"} AND removed_at IS NULL`,

    insert: insert("groups", ["id", "org_id", "name", "created_by", "created_at", "updated_at"]),

    rename: write`UPDATE groups SET name = ${"name"}, updated_at = ${"now"} WHERE id = ${"id"}`,

    remove: write`UPDATE groups SET removed_at = ${"now"} WHERE id = ${"id"}`,

    removeRules: returning(IdRow)`
      UPDATE acl_rules AS r SET removed_at = ${"now"}
      WHERE r.subject_id = ${"id"} AND r.org_id = ${"orgId"} AND ${liveRule} RETURNING id`,

    /** How many people logins brought into a group, beside those who were added. */
    countBrought: one(CountRow)`
      SELECT count(DISTINCT lg.user_id) AS count FROM group_mappings gx
      CROSS JOIN login_groups lg
      WHERE gx.group_id = ${"groupId"} AND lg.org_id = gx.org_id AND lg.provider_group = gx.provider_group
        AND ${liveLogin} AND ${toldLogin} AND NOT EXISTS (
        SELECT 1 FROM group_members gm WHERE gm.group_id = gx.group_id AND gm.user_id = lg.user_id)`,

    /** The provider's groups that stand for a group: at most 200. */
    providerGroups: all(ProviderGroupRow)`
      SELECT provider_group FROM group_mappings WHERE group_id = ${"groupId"} ORDER BY provider_group`,

    /** Whom logins with a group of the provider brought. */
    brought: (orgId: OrgId, providerGroup: string) =>
      pages(
        "",
        (after, limit) => broughtPage({ orgId, providerGroup, after, limit }),
        ({ user_id }): string => user_id
      ),

    findBrought: first(BroughtRow)`
      ${brought} FROM users u CROSS JOIN ${loginGroups}
        AND u.id = ${"userId"} AND lg.user_id = u.id AND lg.org_id = ${"orgId"} AND gx.group_id = ${"groupId"}
        AND ${toldLogin}
      ORDER BY lg.provider_group LIMIT 1`,

    removeMappings: write`DELETE FROM group_mappings WHERE group_id = ${"groupId"}`,

    /** The added members of a group. */
    members: (groupId: GroupId) =>
      pages(
        "",
        (after, limit) => memberPage({ groupId, after, limit }),
        ({ user_id }): string => user_id
      ),

    findMember: first(MemberRow)`${members} AND gm.user_id = ${"userId"}`,

    /** A person of the organization. */
    findPerson: first(UserRow)`
      SELECT m.user_id AS user_id, u.email AS email, u.name AS name
      FROM users u JOIN members m ON m.user_id = u.id AND m.org_id = ${"orgId"} AND m.removed_at IS NULL
      WHERE u.email = ${"email"}`,

    /** All people of an organization. */
    people: (orgId: OrgId) =>
      pages(
        "",
        (after, limit) => peoplePage({ orgId, after, limit }),
        ({ email }): string => email
      ),

    addMembers: insert("group_members", ["user_id", "org_id", "group_id", "added_by", "created_at"]),

    removeMember: write`
      DELETE FROM group_members WHERE user_id = ${"userId"} AND org_id = ${"orgId"} AND group_id = ${"groupId"}`,

    removeMembers: write`DELETE FROM group_members WHERE group_id = ${"groupId"}`,

    /** Removes whom a directory has listed in a group. */
    removeListed: write`DELETE FROM scim_group_members WHERE group_id = ${"groupId"}`,

    removeDirectory: write`DELETE FROM scim_groups WHERE id = ${"groupId"}`
  } as const
})
