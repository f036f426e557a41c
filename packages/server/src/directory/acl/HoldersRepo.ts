import { RuleSubjectType } from "@coffer/domain/access/AclRule"
import {
  DelegationId,
  GroupId,
  type OrgId,
  OrgId as OrgIdSchema,
  ServiceAccountId,
  UserId
} from "@coffer/domain/base/Ids"
import { Email, GroupName, OrgName } from "@coffer/domain/base/Names"
import { delegablePermissions } from "@coffer/domain/directory/Delegation"
import { Role } from "@coffer/domain/directory/Member"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import { flow } from "effect/Function"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { delegationEnd, liveDelegation } from "../../access/caller/ActorRepo.js"
import { delegatedOrg, delegatedPlaces, withPlaces } from "../../access/caller/DelegatedPlaces.js"
import { liveRule, loginGroups } from "../../access/place/PlaceRow.js"
import { listed, valuesOf } from "../../database/ListedValues.js"
import { allPages } from "../../database/Pages.js"
import { query, sql } from "../../database/Query.js"
import { CountRow } from "../../database/Rows.js"
import { grantColumns, grantFields } from "./Repo.js"

const RuleRow = Schema.Struct({
  ...grantFields,
  subject_type: RuleSubjectType,
  subject_id: Schema.String,
  group: Schema.NullOr(GroupName),
  updated_at: Schema.String
})
export type PlaceRuleRow = typeof RuleRow.Type

const PersonRow = Schema.Struct({
  id: UserId,
  email: Schema.typeSchema(Email),
  superadmin: Schema.Number,
  role: Role,
  accepted_at: Schema.NullOr(Schema.String),
  updated_at: Schema.String
})
export type PersonRow = typeof PersonRow.Type

const MembershipRow = Schema.Struct({
  user_id: Schema.String,
  group_id: GroupId,
  /** When the membership ends; null if the person was put into the group. */
  member_until: Schema.NullOr(Schema.Number),
  /** When the person was put into the group. */
  joined_at: Schema.NullOr(Schema.String)
})

const AccountRow = Schema.Struct({
  id: ServiceAccountId,
  name: Schema.String,
  project_id: Schema.NullOr(Schema.String),
  reveal: Schema.Number,
  last_used_at: Schema.NullOr(Schema.String)
})

const DelegationRow = Schema.Struct({
  id: DelegationId,
  user_id: Schema.String,
  name: Schema.String,
  org_id: OrgIdSchema,
  org: OrgName,
  places: Schema.NullOr(Schema.String),
  permission: Schema.Literal(...delegablePermissions),
  reveal: Schema.Number,
  keys: Schema.NullOr(Schema.String),
  created_at: Schema.Number,
  ends_at: Schema.Number,
  last_used_at: Schema.NullOr(Schema.String)
})

/** Reads those who may have rights in an environment, in pieces that hold the event loop only shortly. */
export const holdersRepo = Effect.gen(function* () {
  const { all, one, run } = yield* query
  const pages = yield* allPages
  const memberships = run(MembershipRow)
  const accounts = run(AccountRow)
  const delegations = run(DelegationRow)

  const rulePage = all(RuleRow)`
    SELECT ${grantColumns}, r.subject_type AS subject_type, r.subject_id AS subject_id, g.name AS "group", r.updated_at AS updated_at
    FROM acl_rules r LEFT JOIN groups g ON r.subject_type = 'group' AND g.id = r.subject_id
    WHERE r.org_id = ${"orgId"} AND ${liveRule} AND (r.project_pattern = ${"project"} OR r.project_pattern LIKE '%*%'
      OR r.project_pattern LIKE '%?%' OR r.project_pattern LIKE '%{%') AND r.id > ${"after"}
    ORDER BY r.id LIMIT ${"limit"}`

  return {
    /** The rules of an organization that may be about a project: its name, or a pattern. */
    rules: (orgId: OrgId, project: string) =>
      pages(
        "",
        (after, limit) => rulePage({ orgId, project, after, limit }),
        ({ id }): string => id
      ),

    /** Members who are not disabled, by id. */
    people: all(PersonRow)`
      SELECT u.id AS id, u.email AS email, u.superadmin AS superadmin, m.role AS role, m.accepted_at AS accepted_at,
        m.updated_at AS updated_at
      FROM members m JOIN users u ON u.id = m.user_id AND u.disabled_at IS NULL
      WHERE m.org_id = ${"orgId"} AND m.removed_at IS NULL AND m.user_id > ${"after"}
      ORDER BY m.user_id LIMIT ${"limit"}`,

    /** Superadmins who are no members. */
    superadmins: one(CountRow)`
      SELECT count(*) AS count FROM users u WHERE u.superadmin = 1 AND u.disabled_at IS NULL AND NOT EXISTS (
        SELECT 1 FROM members m WHERE m.org_id = ${"orgId"} AND m.user_id = u.id AND m.removed_at IS NULL)`,

    /** In which groups some people are, and those that their logins brought. */
    memberships: (orgId: OrgId, people: ReadonlyArray<string>) =>
      memberships(
        sql`
          SELECT gm.user_id AS user_id, gm.group_id AS group_id, NULL AS member_until, gm.created_at AS joined_at FROM group_members gm
          WHERE gm.org_id = ${"orgId"} AND gm.user_id IN (${listed("person", people)})
          UNION ALL
          SELECT lg.user_id, gx.group_id, max(lg.expires_at), NULL FROM ${loginGroups}
            AND lg.org_id = ${"orgId"} AND lg.user_id IN (${listed("person", people)})
          GROUP BY lg.user_id, gx.group_id`,
        { orgId, ...valuesOf("person", people) }
      ),

    /** Those of some accounts that were not revoked. */
    accounts: (orgId: OrgId, ids: ReadonlyArray<string>) =>
      accounts(
        sql`SELECT id, name, project_id, reveal, last_used_at FROM service_accounts
          WHERE org_id = ${"orgId"} AND removed_at IS NULL AND id IN (${listed("account", ids)}) ORDER BY id`,
        { orgId, ...valuesOf("account", ids) }
      ),

    /** The live delegations of some people in an organization. */
    delegations: (orgId: OrgId, people: ReadonlyArray<string>, maxMillis: number) =>
      Effect.map(
        delegations(
          sql`SELECT d.id AS id, d.user_id AS user_id, d.name AS name, dg.id AS org_id, dg.name AS org,
              ${delegatedPlaces} AS places, d.permission AS permission, d.reveal AS reveal, d.keys AS keys,
              d.created_at AS created_at, ${delegationEnd} AS ends_at, d.last_used_at AS last_used_at
            FROM delegations d ${delegatedOrg}
            WHERE d.org_id = ${"orgId"} AND d.user_id IN (${listed("person", people)}) AND ${liveDelegation}
            ORDER BY d.created_at, d.id`,
          { orgId, maxMillis, ...valuesOf("person", people) }
        ),
        Array.filterMap(flow(withPlaces, Option.fromNullable))
      )
  } as const
})
