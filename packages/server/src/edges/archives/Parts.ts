import type { ArchivedOrganization } from "@coffer/domain/archive/ArchivedOrganization"
import type { OrgId } from "@coffer/domain/base/Ids"
import type { Email } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import { Outbound } from "../../base/outbound/Outbound.js"
import { rulesArchive } from "../../directory/acl/Archive.js"
import type { Arriving } from "../../directory/archives/Arriving.js"
import type { Phase } from "../../directory/archives/Phases.js"
import { environmentsArchive } from "../../directory/environments/Archive.js"
import { admitProtections } from "../../directory/environments/ArchivedProtections.js"
import { federationsArchive } from "../../directory/federations/Archive.js"
import { Federations } from "../../directory/federations/Federations.js"
import { groupsArchive } from "../../directory/groups/Archive.js"
import { Users } from "../../directory/login/Users.js"
import { memberCountProblem, membersArchive } from "../../directory/members/Archive.js"
import { projectsArchive } from "../../directory/projects/Archive.js"
import { accountsArchive } from "../../directory/service-accounts/Archive.js"
import { webhooksArchive } from "../webhooks/Archive.js"
import { SigningKeys } from "../webhooks/SigningKeys.js"

/** When and by whom the places of an import are written, and before when none of them ends. */
interface Beginning {
  readonly at: string
  readonly by: string
  readonly earliestEnd: number
}

/** The records of a structure, in the order in which archives have them and imports write them. */
export class Parts extends Effect.Service<Parts>()("@coffer/server/Parts", {
  effect: Effect.gen(function* () {
    const members = yield* membersArchive
    const groups = yield* groupsArchive
    const projects = yield* projectsArchive
    const environments = yield* environmentsArchive
    const accounts = yield* accountsArchive
    const federations = yield* federationsArchive
    const rules = yield* rulesArchive
    const webhooks = yield* webhooksArchive

    /** Reads the lists of an organization. What names a subject that stays behind, stays behind too. */
    const read = Effect.fnUntraced(function* (orgId: OrgId) {
      const people = yield* members.read(orgId)
      const emails = new Set<string>(people.map(({ email }) => email))
      const isMember = (email: string) => emails.has(email)
      const subjects = {
        members: people,
        groups: yield* groups.read(orgId, isMember),
        accounts: yield* accounts.read(orgId)
      }
      const known = {
        user: emails,
        service_account: new Set<string>(subjects.accounts.map(({ name }) => name)),
        group: new Set<string>(subjects.groups.map(({ name }) => name))
      }
      return {
        ...subjects,
        mappings: yield* groups.readMappings(orgId),
        projects: yield* projects.read(orgId, isMember),
        rules: (yield* rules.read(orgId)).filter(({ subject, subject_type }) => known[subject_type].has(subject)),
        webhooks: yield* webhooks.read(orgId)
      }
    })

    /** Leaves out what this server would not let be made. Returns why, too. */
    const admit = Effect.fnUntraced(function* (archived: ArchivedOrganization, importer: Email) {
      const crowded = memberCountProblem(archived, importer)
      if (crowded !== null) return yield* crowded
      const { left_out: unvoted, structure } = yield* admitProtections(archived, importer)
      const left_out = [...unvoted]
      const leave = (note: string) => left_out.push(note)
      const admitted = {
        ...structure,
        accounts: yield* accounts.admit(structure.accounts, leave),
        webhooks: yield* webhooks.admit(structure.webhooks, leave)
      }
      return { structure: admitted, left_out } as const
    })

    /** The phases of what secrets need: projects, environments and service accounts. */
    const begin = Effect.fnUntraced(function* (orgId: OrgId, structure: ArchivedOrganization, beginning: Beginning) {
      const { ids, phases } = yield* projects.write(orgId, structure.projects, beginning)
      return [...phases, accounts.write(orgId, structure.accounts, ids, beginning.by)]
    })

    /** The phases of the rest. An import that goes on counts its records over all of them, so that their order stays. */
    const end = (arriving: Arriving): ReadonlyArray<Phase<never>> => [
      members.write(arriving),
      ...groups.write(arriving),
      rules.write(arriving),
      federations.write(arriving, accounts.ids(arriving.id)),
      webhooks.write(arriving),
      environments.protect(arriving)
    ]

    return { read, admit, begin, end, renameAudiences: federations.renameAudiences } as const
  }),
  dependencies: [Federations.Default, Outbound.Default, SigningKeys.Default, Users.Default]
}) {}
