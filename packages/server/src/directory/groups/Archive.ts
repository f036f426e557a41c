import type { ArchivedGroup, ArchivedOrganization } from "@coffer/domain/archive/ArchivedOrganization"
import { GroupId, type OrgId } from "@coffer/domain/base/Ids"
import * as Effect from "effect/Effect"
import { forEachInSlices } from "../../base/EventLoop.js"
import { now } from "../../base/Time.js"
import { uuidV7 } from "../../base/Uuid.js"
import { arrived, type Arriving, stamps } from "../archives/Arriving.js"
import { firstOf, namesIn, type Problem, uniqueNames, unknownName } from "../archives/Checks.js"
import { phase } from "../archives/Phases.js"
import { membersArchive } from "../members/Archive.js"
import { mappingsRepo } from "./MappingsRepo.js"
import { groupsRepo } from "./Repo.js"

export const groupsProblem = ({ groups, mappings, members }: ArchivedOrganization): Problem => {
  const people = new Set<string>(members.map(({ email }) => email))
  return firstOf([
    uniqueNames(
      "group",
      groups.map(({ name }) => name.toLowerCase())
    ),
    uniqueNames(
      "mapping",
      mappings.map(({ group, provider_group }) => `${provider_group} to ${group}`)
    ),
    unknownName(
      "group",
      new Set(namesIn(groups)),
      mappings.map(({ group }) => group)
    ),
    ...groups.map(({ members: some }) => unknownName("member", people, some)),
    ...groups.map(({ members: some, name }) => uniqueNames(`member of group ${name}`, some))
  ])
}

/** Groups in archives, with the members that people added, and the mappings of the provider's groups. */
export const groupsArchive = Effect.gen(function* () {
  const repo = yield* groupsRepo
  const mappings = yield* mappingsRepo
  const members = yield* membersArchive

  const read = (orgId: OrgId, isMember: (email: string) => boolean) =>
    Effect.flatMap(repo.all(orgId), (rows) =>
      forEachInSlices(rows, ({ id, name }) =>
        Effect.map(repo.members(id), (people): ArchivedGroup => ({
          name,
          members: people.map(({ email }) => email).filter(isMember)
        }))
      )
    )

  const readMappings = (orgId: OrgId) =>
    Effect.map(mappings.all({ orgId }), (rows) => rows.map(({ group, provider_group }) => ({ provider_group, group })))

  /** The ids of groups that are written, by name. */
  const ids = (orgId: OrgId) => Effect.map(repo.all(orgId), (rows) => new Map(rows.map(({ id, name }) => [name, id])))

  const write = ({ id: org_id, importer: { email: by }, structure: { groups, mappings: mapped } }: Arriving) => [
    phase(
      groups,
      Effect.succeed((some) =>
        Effect.gen(function* () {
          const at = yield* stamps
          const row = ({ name }: ArchivedGroup) =>
            Effect.map(uuidV7, (id) => ({ id: GroupId.make(id), org_id, name, created_by: by, ...at }))
          yield* repo.insert(yield* Effect.forEach(some, row))
        })
      )
    ),
    phase(
      groups.flatMap(({ members: people, name }) => people.map((email) => ({ email, name }))),
      Effect.map(
        Effect.all([ids(org_id), members.ids(org_id)]),
        ([known, people]) =>
          (some) =>
            Effect.gen(function* () {
              const created_at = yield* now
              const rows = yield* Effect.forEach(some, ({ email, name }) =>
                Effect.map(Effect.all([arrived(people, email), arrived(known, name)]), ([user_id, group_id]) => ({
                  ...{ user_id, org_id, group_id, added_by: by, created_at }
                }))
              )
              yield* repo.addMembers(rows)
            })
      )
    ),
    phase(
      mapped,
      Effect.map(
        ids(org_id),
        (known) => (some) =>
          Effect.flatMap(
            Effect.forEach(some, ({ group, provider_group }) =>
              Effect.map(arrived(known, group), (group_id) => ({ org_id, provider_group, group_id }))
            ),
            mappings.insert
          )
      )
    )
  ]

  return { read, readMappings, ids, write } as const
})
