import { Conflict } from "@coffer/domain/errors/Errors"
import { EnvId, type OrgId, UserId } from "@coffer/domain/base/Ids"
import { Role } from "@coffer/domain/directory/Member"
import { Email, EnvName, ProjectName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { mapInSlices } from "../../base/EventLoop.js"
import { allPages } from "../../database/Pages.js"
import { query } from "../../database/Query.js"
import { liveEnv } from "../place/PlaceRow.js"
import { approversIn, emailsIn } from "./Protections.js"
import { prospectsOf, type VotingMember, type VotingTerms } from "./Voting.js"

const MemberRow = Schema.Struct({ id: UserId, email: Schema.typeSchema(Email), role: Role })

const TermsRow = Schema.Struct({
  env_id: EnvId,
  project: ProjectName,
  env: EnvName,
  needed: Schema.Number,
  approvers: Schema.String,
  self: Schema.Number,
  break_glass: Schema.String
})

/** A protected environment, which stands for all of the organization that need the same votes. */
interface ProtectedKind {
  readonly name: string
  readonly terms: VotingTerms
}

const kindOf = ({ approvers, break_glass, env, needed, project, self }: typeof TermsRow.Type): ProtectedKind => ({
  name: `${project}/${env}`,
  terms: { needed, approvers: approversIn(approvers), self: self === 1, break_glass: emailsIn(break_glass) }
})

const isStuck = ({ terms }: ProtectedKind, members: ReadonlyArray<VotingMember>) => !prospectsOf(terms, members).canEnd

interface KnownMember extends VotingMember {
  readonly id: UserId
}

/** How many environments a message names. */
const maxNamed = 3

export const namesOf = (names: ReadonlyArray<string>): string =>
  names.length <= maxNamed ? names.join(", ") : `${names.slice(0, maxNamed).join(", ")} and more`

/** Reads who could vote in an organization. Hold its scope, so that nobody else changes its members or protections meanwhile. */
export const makeVotingMembers = Effect.gen(function* () {
  const { all } = yield* query
  const pages = yield* allPages

  const memberPage = all(MemberRow)`
    SELECT u.id AS id, u.email AS email, m.role AS role
    FROM members m JOIN users u ON u.id = m.user_id AND u.disabled_at IS NULL
    WHERE m.org_id = ${"orgId"} AND m.removed_at IS NULL AND m.user_id > ${"after"}
      AND (m.accepted_at IS NOT NULL OR ${"invited"} = 1)
    ORDER BY m.user_id LIMIT ${"limit"}`

  const kindPage = all(TermsRow)`
    SELECT one.env_id AS env_id, y.name AS project, x.name AS env, one.needed AS needed, one.approvers AS approvers,
      one.self AS self, one.break_glass AS break_glass
    FROM (
      SELECT min(t.env_id) AS env_id, t.needed, t.approvers, t.self, t.break_glass
      FROM projects p JOIN environments e ON e.project_id = p.id AND ${liveEnv} AND e.protected = 1
      JOIN protections t ON t.env_id = e.id
      WHERE p.org_id = ${"orgId"} AND p.removed_at IS NULL
      GROUP BY t.needed, t.approvers, t.self, t.break_glass) one
    JOIN environments x ON x.id = one.env_id JOIN projects y ON y.id = x.project_id
    WHERE one.env_id > ${"after"} ORDER BY one.env_id LIMIT ${"limit"}`

  /**
   * The members who are not disabled. All are taken for writers: rules are not read. Whoever has not accepted the membership may never
   * vote, and counts only with `invited`.
   */
  const members = (orgId: OrgId, { invited = false } = {}): Effect.Effect<ReadonlyArray<KnownMember>> =>
    Effect.flatMap(
      pages(
        "",
        (after, limit) => memberPage({ orgId, after, limit, invited: invited ? 1 : 0 }),
        ({ id }): string => id
      ),
      (rows) => mapInSlices(rows, (row) => ({ ...row, writes: true }))
    )

  const kinds = (orgId: OrgId): Effect.Effect<ReadonlyArray<ProtectedKind>> =>
    Effect.flatMap(
      pages(
        "",
        (after, limit) => kindPage({ orgId, after, limit }),
        ({ env_id }): string => env_id
      ),
      (rows) => mapInSlices(rows, kindOf)
    )

  /** The protected environments of an organization whose protection nobody could end. */
  const stuck = Effect.fnUntraced(function* (orgId: OrgId, who: { readonly invited?: boolean } = {}) {
    const found = yield* kinds(orgId)
    if (found.length === 0) return []
    const people = yield* members(orgId, who)
    return found.filter((kind) => isStuck(kind, people)).map(({ name }) => name)
  })

  /** Fails with Conflict if a change of the members lets nobody end a protection that somebody could end before. */
  const keepVotes = Effect.fnUntraced(function* (
    orgId: OrgId,
    email: Email,
    change: (members: ReadonlyArray<KnownMember>) => ReadonlyArray<VotingMember>
  ) {
    const found = yield* kinds(orgId)
    if (found.length === 0) return
    const before = yield* members(orgId)
    const after = change(before)
    const lost = found.filter((kind) => isStuck(kind, after) && !isStuck(kind, before)).map(({ name }) => name)
    if (lost.length === 0) return
    return yield* new Conflict({
      message: `without ${email}, nobody could end the protection of ${namesOf(lost)} or get its votes: first let somebody else vote, who has accepted the invitation, or protect it so that the requester's own vote counts (self) or that an owner may change it at once (break_glass)`
    })
  })

  return { members, stuck, keepVotes } as const
})
