import type { ArchivedOrganization, ArchivedProject } from "@coffer/domain/archive/ArchivedOrganization"
import type { Role } from "@coffer/domain/directory/Member"
import type { Email } from "@coffer/domain/base/Names"
import { maxNamed, maxNeeded } from "@coffer/domain/access/Protection"
import * as Effect from "effect/Effect"
import { isApprover, prospectsOf, type VotingMember } from "../../access/gate/Voting.js"
import { mapInSlices } from "../../base/EventLoop.js"

type Environment = ArchivedProject["environments"][number]
type Terms = NonNullable<Environment["protection"]>

/** More people of a role than a vote needs decide as all of them would. */
const enough = maxNeeded + 2

const memberOf = ([email, role]: readonly [Email, Role]): VotingMember => ({ email, role, writes: true })

/** The people whom a protection names. */
const namedIn = ({ approvers, break_glass = [] }: Terms): ReadonlyArray<Email> => [
  ...new Set([...(typeof approvers === "string" ? [] : approvers), ...break_glass])
]

/** The terms of a protection without the people who are no members. If none of its voters is one, owners vote. */
export const withMembersAlone = (
  { approvers, break_glass, ...terms }: Terms,
  isMember: (email: Email) => boolean
): Terms => {
  const voters = typeof approvers === "string" ? approvers : approvers.filter(isMember)
  return {
    ...terms,
    approvers: voters.length === 0 ? "owners" : voters,
    ...(break_glass !== undefined && { break_glass: break_glass.filter(isMember) })
  }
}

/** Those who decide on protections: the roles of all members, and some of the owners and admins. */
interface People {
  readonly importer: Email
  readonly roles: ReadonlyMap<Email, Role>
  readonly leading: ReadonlyArray<Email>
}

const peopleOf = ({ members }: ArchivedOrganization, importer: Email): People => {
  const roles = new Map<Email, Role>(members.map(({ email, role }) => [email, role]))
  roles.set(importer, "owner")
  const leadersIn = (role: Role) => [...roles].flatMap(([email, has]) => (has === role ? [email] : [])).slice(0, enough)
  return { importer, roles, leading: [...leadersIn("owner"), ...leadersIn("admin")] }
}

interface Admitted {
  readonly protection: Terms
  /** The changes, with their reasons. */
  readonly notes: ReadonlyArray<string>
}

/** A protection of an import that names members alone, and that somebody could end: if nobody else, the importer at once. */
const admitted = (place: string, archived: Terms, { importer, leading, roles }: People): Admitted => {
  const notes: Array<string> = []
  const isMember = (email: Email) => roles.has(email)
  const protection = withMembersAlone(archived, isMember)
  const { approvers, break_glass = [], needed, self = false } = protection
  const strangers = namedIn(archived).filter((email) => !isMember(email))
  if (strangers.length > 0) {
    const others = approvers === "owners" && archived.approvers !== "owners" ? ", so that the owners vote there" : ""
    notes.push(`${strangers.join(", ")} in the protection of environment ${place}: not a member${others}`)
  }
  const members = [...new Set([...namedIn(protection), ...leading])].flatMap((email) => {
    const role = roles.get(email)
    return role === undefined ? [] : [memberOf([email, role])]
  })
  if (!prospectsOf({ approvers, break_glass, needed, self }, members).canEnd) {
    notes.push(
      `the votes of others for the protection of environment ${place}: no owner could get ${needed} and end it, so that ${importer} may break the glass there`
    )
    const others = break_glass.slice(0, maxNamed - 1)
    for (const email of break_glass.slice(others.length)) {
      notes.push(`${email} in the protection of environment ${place}: at most ${maxNamed} people may break the glass`)
    }
    return { protection: { ...protection, break_glass: [importer, ...others] }, notes }
  }
  if (members.filter(({ email, role }) => isApprover(approvers, role, email)).length < needed) {
    notes.push(
      `enough votes for environment ${place}: it needs ${needed}, fewer members vote there, and only who may break the glass changes it`
    )
  }
  return { protection, notes }
}

interface Place {
  readonly env: Environment
  readonly notes: ReadonlyArray<string>
}

/**
 * Makes the protections of a structure be ones that somebody could end, and returns what was changed. The importer is an owner of what
 * is imported. A protected environment may end: its votes can set an end.
 */
export const admitProtections = Effect.fnUntraced(function* (structure: ArchivedOrganization, importer: Email) {
  const people = peopleOf(structure, importer)
  const places = structure.projects.flatMap(({ environments, name }) => environments.map((env) => [name, env] as const))
  const found = yield* mapInSlices(places, ([project, env]): Place => {
    const { name, protection } = env
    if (protection === undefined) return { env, notes: [] }
    const { notes, protection: kept } = admitted(`${project}/${name}`, protection, people)
    return { env: { ...env, protection: kept }, notes }
  })
  let at = 0
  const projects = structure.projects.map((project) => ({
    ...project,
    environments: found.slice(at, (at += project.environments.length)).map(({ env }) => env)
  }))
  return { structure: { ...structure, projects }, left_out: found.flatMap(({ notes }) => notes) } as const
})
