import { GroupId, type OrgId, RuleId, ServiceAccountId } from "@coffer/domain/base/Ids"
import { ProjectName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { loginGroups } from "../../access/place/PlaceRow.js"
import { listed, valuesOf } from "../../database/ListedValues.js"
import { query, sql } from "../../database/Query.js"
import { idRow } from "../../database/Rows.js"

const MembershipRow = Schema.Struct({ user_id: Schema.String, group_id: GroupId })
const HeldRow = Schema.Struct({ id: RuleId, held_since: Schema.String })
const NameRow = Schema.Struct({ name: ProjectName })

/** The statements that tell which rules were used. */
export const ruleUsageRepo = Effect.gen(function* () {
  const { all, run } = yield* query
  const memberships = run(MembershipRow)
  const held = run(HeldRow)

  return {
    /** The groups of some people, also those that their logins brought. */
    memberships: (orgId: OrgId, people: ReadonlyArray<string>) =>
      memberships(
        sql`
          SELECT gm.user_id AS user_id, gm.group_id AS group_id FROM group_members gm
          WHERE gm.org_id = ${"orgId"} AND gm.user_id IN (${listed("person", people)})
          UNION
          SELECT lg.user_id, gx.group_id FROM ${loginGroups}
            AND lg.org_id = ${"orgId"} AND lg.user_id IN (${listed("person", people)})`,
        { orgId, ...valuesOf("person", people) }
      ),

    /** Since when some rules have been as they are, for a subject that may have been put into their group later. */
    heldSince: (orgId: OrgId, subjectId: string, rules: ReadonlyArray<string>) =>
      held(
        sql`
          SELECT r.id AS id, CASE WHEN gm.created_at > r.updated_at THEN gm.created_at ELSE r.updated_at END AS held_since
          FROM acl_rules r LEFT JOIN group_members gm
            ON gm.user_id = ${"subjectId"} AND gm.org_id = r.org_id AND gm.group_id = r.subject_id
          WHERE r.org_id = ${"orgId"} AND r.id IN (${listed("rule", rules)})`,
        { orgId, subjectId, ...valuesOf("rule", rules) }
      ),

    /** Projects that changed since a time, perhaps their names: the log has their earlier entries under the names of then. */
    renamed: all(NameRow)`
      SELECT name FROM projects
      WHERE org_id = ${"orgId"} AND removed_at IS NULL AND created_at < ${"since"} AND updated_at >= ${"since"}`,

    /** Service accounts that called the server since a time. */
    activeAccounts: all(idRow(ServiceAccountId))`
      SELECT id FROM service_accounts
      WHERE org_id = ${"orgId"} AND removed_at IS NULL AND last_used_at >= ${"since"}`
  } as const
})
