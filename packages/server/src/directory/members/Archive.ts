import type { ArchivedOrganization } from "@coffer/domain/archive/ArchivedOrganization"
import type { OrgId } from "@coffer/domain/base/Ids"
import type { Email } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { uuidV7 } from "../../base/Uuid.js"
import { query } from "../../database/Query.js"
import { type Arriving, stamps } from "../archives/Arriving.js"
import { type Problem, uniqueNames } from "../archives/Checks.js"
import { phase } from "../archives/Phases.js"
import { Users } from "../login/Users.js"
import { memberLimit } from "./Members.js"
import { membersRepo } from "./Repo.js"

const PersonRow = Schema.Struct({ email: Schema.String })

/** The addresses with their roles, in one order: another import may make the same users, and each waits for those of the other. */
const rolesOf = ({ members }: ArchivedOrganization, importer: Email) => {
  const roles = new Map(members.map(({ email, role }) => [email, role]))
  roles.set(importer, "owner")
  return [...roles].sort(([one], [other]) => (one < other ? -1 : 1))
}

/** The importer becomes one of the members. */
export const memberCountProblem = (structure: ArchivedOrganization, importer: Email): Problem =>
  memberLimit.problem(rolesOf(structure, importer).length)

export const membersProblem = ({ members }: ArchivedOrganization): Problem =>
  uniqueNames(
    "member",
    members.map(({ email }) => email)
  )

/** Members in archives, without users who are disabled: another server would let them in again. */
export const membersArchive = Effect.gen(function* () {
  const repo = yield* membersRepo
  const users = yield* Users
  const { all } = yield* query

  const disabled = all(PersonRow)`
    SELECT u.email AS email FROM members m JOIN users u ON u.id = m.user_id AND u.disabled_at IS NOT NULL
    WHERE m.org_id = ${"orgId"} AND m.removed_at IS NULL`

  const read = (orgId: OrgId) =>
    Effect.map(Effect.all([repo.all(orgId), disabled({ orgId })]), ([rows, left]) => {
      const without = new Set(left.map(({ email }) => email))
      return rows.filter(({ email }) => !without.has(email)).map(({ email, role }) => ({ email, role }))
    })

  /** The ids of members that are written, by address. */
  const ids = (orgId: OrgId) =>
    Effect.map(repo.all(orgId), (rows) => new Map(rows.map(({ email, user_id }) => [email, user_id])))

  const write = (arriving: Arriving) =>
    phase(
      rolesOf(arriving.structure, arriving.importer.email),
      Effect.succeed((some) =>
        Effect.gen(function* () {
          const at = yield* stamps
          const rows = yield* Effect.forEach(some, ([email, role]) =>
            Effect.map(Effect.all([uuidV7, users.ensure(email)]), ([id, user]) => ({
              ...{ id, org_id: arriving.id, user_id: user.id, role },
              ...at,
              // The archive is the importer's: it proves nothing of what others have accepted.
              accepted_at: email === arriving.importer.email ? at.created_at : null
            }))
          )
          yield* repo.insert(rows)
        })
      ),
      // A new user, too.
      2
    )

  return { read, ids, write } as const
})
