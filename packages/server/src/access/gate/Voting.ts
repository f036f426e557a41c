import type { Role } from "@coffer/domain/directory/Member"
import type { Email } from "@coffer/domain/base/Names"
import type { Approvers } from "@coffer/domain/access/Protection"

/** The terms that decide on the votes of a protection. */
export interface VotingTerms {
  readonly needed: number
  readonly approvers: Approvers
  readonly self: boolean
  readonly break_glass: ReadonlyArray<Email>
}

/** A member of an organization who is not disabled. */
export interface VotingMember {
  readonly email: Email
  readonly role: Role
  /** Whether the member may write in the environment, by role or by a rule of its own or of a group. */
  readonly writes: boolean
}

/** Which changes of a protected environment could ever be made. */
export interface Prospects {
  /** Whether some owner could end the protection. */
  readonly canEnd: boolean
  /** Whether some member could change the environment. */
  readonly canChange: boolean
  /** The members who write there, and whose own changes could not get the votes. */
  readonly alone: ReadonlyArray<Email>
}

/** Whether a member with a role votes. */
export const isApprover = (approvers: Approvers, role: Role | null, email: Email): boolean => {
  if (role === null) return false
  if (approvers === "owners") return role === "owner"
  return approvers === "admins" ? role === "owner" || role === "admin" : approvers.includes(email)
}

/**
 * Whether a request could get the votes of a protection from the members of its organization.
 *
 * @param requester the member who asks, whose own vote counts only with `self`; null for a service account
 */
export const couldPass = (
  { approvers, needed, self }: Omit<VotingTerms, "break_glass">,
  members: ReadonlyArray<Pick<VotingMember, "email" | "role">>,
  requester: Email | null
): boolean =>
  members.filter(({ email, role }) => (self || email !== requester) && isApprover(approvers, role, email)).length >=
  needed

/**
 * Decides which changes could get the votes of a protection, or be made by breaking the glass. A person's own vote counts only with
 * `self`.
 */
export const prospectsOf = (
  { approvers, break_glass, needed, self }: VotingTerms,
  members: ReadonlyArray<VotingMember>
): Prospects => {
  const isVoter = ({ email, role }: VotingMember) => isApprover(approvers, role, email)
  const voters = members.filter(isVoter).length
  const couldChange = (member: VotingMember): boolean =>
    break_glass.includes(member.email) || voters - (isVoter(member) && !self ? 1 : 0) >= needed
  const writers = members.filter(({ writes }) => writes)
  return {
    canEnd: members.some((member) => member.role === "owner" && couldChange(member)),
    canChange: writers.some(couldChange),
    alone: writers.filter((member) => !couldChange(member)).map(({ email }) => email)
  }
}
