import { type OrgId, UserId } from "@coffer/domain/base/Ids"
import { Role } from "@coffer/domain/directory/Member"
import { Email } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { allPages } from "../../database/Pages.js"
import { groupRules, liveRule } from "../../access/place/PlaceRow.js"
import { query, sql } from "../../database/Query.js"
import { CountRow, IdRow } from "../../database/Rows.js"

const MemberRow = Schema.Struct({
  user_id: UserId,
  email: Schema.typeSchema(Email),
  name: Schema.String,
  role: Role,
  created_at: Schema.String,
  is_accepted: Schema.Literal(0, 1)
})
export type MemberRow = typeof MemberRow.Type

const WithAccessRow = Schema.Struct({
  ...MemberRow.fields,
  last_seen_at: Schema.NullOr(Schema.String),
  has_access: Schema.Literal(0, 1)
})

const OwnersRow = Schema.Struct({ count: Schema.Number, accepted: Schema.Number })
const GroupRow = Schema.Struct({ group_id: Schema.String })

const columns = sql`m.user_id AS user_id, u.email AS email, u.name AS name, m.role AS role, m.created_at AS created_at,
  CASE WHEN m.accepted_at IS NULL THEN 0 ELSE 1 END AS is_accepted`

export const membersRepo = Effect.gen(function* () {
  const { all, first, insert, one, returning, write } = yield* query
  const pages = yield* allPages

  const ofOrg = sql`
    FROM members m JOIN users u ON u.id = m.user_id
    WHERE m.org_id = ${"orgId"} AND m.removed_at IS NULL AND u.email > ${"after"}
    ORDER BY u.email LIMIT ${"limit"}`

  const page = all(MemberRow)`SELECT ${columns} ${ofOrg}`

  const pageWithAccess = all(WithAccessRow)`
    SELECT ${columns}, CASE WHEN m.accepted_at IS NULL THEN NULL ELSE u.last_seen_at END AS last_seen_at, CASE
        WHEN m.role IN ('owner', 'admin') OR u.superadmin = 1 OR EXISTS (
          SELECT 1 FROM acl_rules r WHERE r.subject_id = m.user_id AND r.org_id = m.org_id AND r.denies = 0
            AND ${liveRule})
          OR EXISTS (
          SELECT 1 FROM group_members gm CROSS JOIN acl_rules r
          WHERE gm.user_id = m.user_id AND gm.org_id = m.org_id AND r.subject_id = gm.group_id AND r.org_id = gm.org_id
            AND r.denies = 0 AND ${liveRule})
          OR (m.accepted_at IS NOT NULL AND EXISTS (SELECT 1 FROM ${groupRules(sql`m.user_id`, sql`m.org_id`)}
            AND r.denies = 0))
        THEN 1 ELSE 0 END AS has_access ${ofOrg}`

  return {
    /** The members of an organization, sorted by e-mail. */
    all: (orgId: OrgId) =>
      pages(
        "",
        (after, limit) => page({ orgId, after, limit }),
        ({ email }): string => email
      ),

    /** Like `all`, with what only admins see. */
    withAccess: (orgId: OrgId) =>
      pages(
        "",
        (after, limit) => pageWithAccess({ orgId, after, limit }),
        ({ email }): string => email
      ),

    find: first(MemberRow)`
      SELECT ${columns} FROM members m JOIN users u ON u.id = m.user_id
      WHERE m.org_id = ${"orgId"} AND m.user_id = ${"userId"} AND m.removed_at IS NULL`,

    count: one(CountRow)`
      SELECT count(*) AS count FROM members WHERE org_id = ${"orgId"} AND removed_at IS NULL`,

    /** The owners beside one: how many, and how many of them have accepted that. */
    otherOwners: one(OwnersRow)`
      SELECT count(*) AS count, count(accepted_at) AS accepted FROM members
      WHERE org_id = ${"orgId"} AND user_id <> ${"userId"} AND role = 'owner' AND removed_at IS NULL`,

    /** How many service accounts of the organization the person created. */
    countAccountsOf: one(CountRow)`
      SELECT count(*) AS count FROM service_accounts
      WHERE org_id = ${"orgId"} AND created_by = ${"email"} AND removed_at IS NULL`,

    insert: insert("members", ["id", "org_id", "user_id", "role", "created_at", "updated_at", "accepted_at"]),

    setRole: write`
      UPDATE members SET role = ${"role"}, updated_at = ${"now"}
      WHERE org_id = ${"orgId"} AND user_id = ${"userId"} AND removed_at IS NULL`,

    remove: write`
      UPDATE members SET removed_at = ${"now"}
      WHERE org_id = ${"orgId"} AND user_id = ${"userId"} AND removed_at IS NULL`,

    forgetEnding: write`DELETE FROM scim_endings WHERE org_id = ${"orgId"} AND email = ${"email"}`,

    removeDelegations: write`DELETE FROM delegations WHERE user_id = ${"userId"} AND org_id = ${"orgId"}`,

    removeFromGroups: returning(GroupRow)`
      DELETE FROM group_members WHERE user_id = ${"userId"} AND org_id = ${"orgId"} RETURNING group_id`,

    removeFromLogins: write`DELETE FROM login_groups WHERE user_id = ${"userId"} AND org_id = ${"orgId"}`,

    removeRules: returning(IdRow)`
      UPDATE acl_rules AS r SET removed_at = ${"now"}
      WHERE r.subject_id = ${"userId"} AND r.org_id = ${"orgId"} AND ${liveRule} RETURNING id`
  } as const
})
