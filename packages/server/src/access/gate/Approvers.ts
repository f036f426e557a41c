import { type OrgId, UserId } from "@coffer/domain/base/Ids"
import { Role } from "@coffer/domain/directory/Member"
import { Email } from "@coffer/domain/base/Names"
import type { Action } from "@coffer/domain/access/Permissions"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { mapInSlices } from "../../base/EventLoop.js"
import { allPages } from "../../database/Pages.js"
import { query, sql } from "../../database/Query.js"
import { decide, type PlaceNames } from "../place/Decisions.js"
import { acceptedMember, grantsOf, groupRulesOf, rulesWhere } from "../place/PlaceRow.js"

const MemberRow = Schema.Struct({
  user_id: UserId,
  email: Schema.typeSchema(Email),
  superadmin: Schema.Number,
  role: Role,
  rules: Schema.String,
  group_rules: Schema.String
})

/** Rules name the people of a place; a role is everybody's who administers the organization. */
const closest = ["rule", "role", "superadmin"] as const

/** A member who may do an action. */
export interface Approver {
  readonly id: UserId
  readonly email: Email
}

/**
 * Returns a function that lists the members of an organization who may do an action at a place: first by a rule, then by their
 * role. A superadmin counts only as a member, and a member only once the membership is accepted.
 */
export const makeApprovers = Effect.gen(function* () {
  const { all } = yield* query
  const pages = yield* allPages

  const page = all(MemberRow)`
    SELECT m.user_id AS user_id, u.email AS email, u.superadmin AS superadmin, m.role AS role,
      ${rulesWhere(sql`r.subject_id = m.user_id AND r.org_id = m.org_id`)} AS rules,
      ${groupRulesOf(sql`m.user_id`, sql`m.org_id`)} AS group_rules
    FROM members m JOIN users u ON u.id = m.user_id AND u.disabled_at IS NULL
    WHERE m.org_id = ${"orgId"} AND ${acceptedMember} AND m.user_id > ${"after"}
    ORDER BY m.user_id LIMIT ${"limit"}`

  return Effect.fnUntraced(function* (action: Action, orgId: OrgId, place: PlaceNames) {
    const members = yield* pages(
      "",
      (after, limit) => page({ orgId, after, limit }),
      ({ user_id }): string => user_id
    )
    const decided = yield* mapInSlices(members, (row) => {
      const { email, role, superadmin, user_id: id } = row
      const subject = { superadmin: superadmin === 1, role, account: null, grants: grantsOf(row) }
      return { approver: { id, email } satisfies Approver, decision: decide(action, subject, place) }
    })
    return closest.flatMap((via): ReadonlyArray<Approver> =>
      decided.flatMap(({ approver, decision }) => (decision.allowed && decision.via === via ? [approver] : []))
    )
  })
})
