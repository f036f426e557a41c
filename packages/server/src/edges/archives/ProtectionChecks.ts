import type { ArchivedOrganization, ArchivedProject } from "@coffer/domain/archive/ArchivedOrganization"
import { ValidationError } from "@coffer/domain/Errors"
import type { Role } from "@coffer/domain/Member"
import type { Email } from "@coffer/domain/Names"
import { maxNeeded } from "@coffer/domain/Protection"
import * as Effect from "effect/Effect"
import { mapInSlices } from "../../base/EventLoop.js"
import { prospectsOf, type VotingMember, type VotingTerms } from "../../access/Voting.js"

type Environment = ArchivedProject["environments"][number]

/** More people of a role than a vote needs decide as all of them would. */
const enough = maxNeeded + 2

const memberOf = ([email, role]: readonly [Email, Role]): VotingMember => ({ email, role, writes: true })

/** Why an environment could not be protected like that; null if it could. */
const problemOf = (
  project: string,
  { expires_at, name, protection }: Environment,
  roles: ReadonlyMap<Email, Role>,
  leading: ReadonlyArray<Email>
): string | null => {
  if (protection === undefined) return null
  const place = `environment ${project}/${name}`
  if (expires_at !== undefined) return `protects ${place}, which ends: one that ends cannot be protected`
  const { approvers, break_glass = [], needed, self = false } = protection
  const named = [...(typeof approvers === "string" ? [] : approvers), ...break_glass]
  const unknown = named.find((email) => !roles.has(email))
  if (unknown !== undefined) return `protects ${place} with the votes of ${unknown}, who is not a member`
  const members = [...new Set([...named, ...leading])].flatMap((email) => {
    const role = roles.get(email)
    return role === undefined ? [] : [memberOf([email, role])]
  })
  const terms: VotingTerms = { needed, approvers, self, break_glass }
  return prospectsOf(terms, members).canEnd
    ? null
    : `protects ${place} so that nobody could end it again: an owner needs the votes of others, self, or break_glass`
}

/** Fails unless each protection of a structure is one that the API sets. The importer is an owner of what is imported. */
export const checkProtections = Effect.fnUntraced(function* (
  { members, projects }: ArchivedOrganization,
  importer: Email
) {
  const roles = new Map<Email, Role>(members.map(({ email, role }) => [email, role]))
  roles.set(importer, "owner")
  const leadersIn = (role: Role) => [...roles].flatMap(([email, has]) => (has === role ? [email] : [])).slice(0, enough)
  const leading = [...leadersIn("owner"), ...leadersIn("admin")]
  const problems = yield* mapInSlices(
    projects.flatMap(({ environments, name }) => environments.map((env) => [name, env] as const)),
    ([project, env]) => problemOf(project, env, roles, leading)
  )
  const problem = problems.find((one) => one !== null)
  if (problem !== undefined) return yield* new ValidationError({ message: `organization: ${problem}` })
})
