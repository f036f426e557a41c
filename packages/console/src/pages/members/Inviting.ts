import type { PlannedInvitation, WantedRule } from "@coffer/domain/access/Invitations"
import type { Email, GroupName, OrgName } from "@coffer/domain/base/Names"
import type { Role } from "@coffer/domain/directory/Member"
import * as Effect from "effect/Effect"
import { call } from "../../client/Calls.js"

const invite = (org: OrgName, email: Email, role: Role) =>
  call("members", (api) => api.invite({ path: { org_name: org }, payload: { email, role } }))

const grant = (org: OrgName, email: Email, { env_pattern, permission, project_pattern }: WantedRule) =>
  call("acl", (api) =>
    api.grant({
      path: { org_name: org },
      payload: { subject_type: "user", email, project_pattern, env_pattern, permission }
    })
  )

/** Invites a person and grants the rules. Somebody else may have invited the person meanwhile. */
export const inviteWithRules = (org: OrgName, { invitation: { email }, memberAs, role, rules }: PlannedInvitation) => {
  const grants = Effect.forEach(rules, (rule) => grant(org, email, rule), { discard: true })
  if (memberAs !== undefined) return grants
  const invited = Effect.catchTag(Effect.asVoid(invite(org, email, role)), "Conflict", () => Effect.void)
  return Effect.zipRight(invited, grants)
}

/** The rights of people who are invited together. */
export interface Wanted {
  readonly role: Role
  readonly groups: ReadonlyArray<GroupName>
  readonly rule: WantedRule | null
}

/**
 * Invites people with their groups and a rule, one after the other. `done` has those who have all of it: a further try after a
 * failure leaves them out. `invited` has those who are members already by this.
 */
export const inviteAll = (
  org: OrgName,
  people: ReadonlyArray<Email>,
  { groups, role, rule }: Wanted,
  { done, invited }: { readonly invited: Set<Email>; readonly done: Set<Email> }
) =>
  Effect.forEach(
    people.filter((email) => !done.has(email)),
    (email) =>
      Effect.gen(function* () {
        if (!invited.has(email)) yield* invite(org, email, role)
        invited.add(email)
        for (const group of groups) {
          const path = { org_name: org, group_name: group }
          yield* call("groups", (api) => api.addMember({ path, payload: { email } }))
        }
        if (rule !== null) yield* grant(org, email, rule)
        done.add(email)
      }),
    { discard: true }
  )
