import type { GroupId } from "@coffer/domain/base/Ids"
import { groupNameForm } from "@coffer/domain/base/NameForms"
import type { GroupName } from "@coffer/domain/base/Names"
import { maxGroupMembers } from "@coffer/domain/directory/Group"
import { Conflict, LimitExceeded, NotFound, ValidationError } from "@coffer/domain/errors/Errors"
import * as Effect from "effect/Effect"
import { Access, sourceOf } from "../../access/Access.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { now } from "../../base/Time.js"
import { method } from "../../base/tracing/Traced.js"
import type { Transaction } from "../../database/Database.js"
import { etagOfAll } from "../../http/ETag.js"
import { Groups } from "../groups/Groups.js"
import { groupsRepo } from "../groups/Repo.js"
import { type DirectoryGroupRow, directoryGroupsRepo } from "./DirectoryGroupsRepo.js"
import { checkETag, type OutdatedRecord } from "./OutdatedRecord.js"
import { peopleRepo } from "./PeopleRepo.js"
import type { DirectoryToken } from "./ScimTokens.js"

/** The state of a group that a directory wants. */
export interface WantedGroup {
  readonly displayName: string
  readonly externalId: string | null
  /** The ids of the people whom the directory has listed. */
  readonly members: ReadonlyArray<string>
}

/** A group of a directory, without its members. */
export interface DirectoryGroup {
  readonly id: GroupId
  readonly displayName: string
  readonly externalId: string | null
  readonly createdAt: string
  readonly updatedAt: string
  readonly etag: string
}

export interface ListedMember {
  readonly id: string
  readonly email: string
}

type Refusal = Conflict | LimitExceeded | NotFound | OutdatedRecord | ValidationError

const groupOf = ({
  created_at,
  display_name,
  external_id,
  id,
  revision,
  updated_at
}: DirectoryGroupRow): DirectoryGroup => ({
  ...{ id, displayName: display_name, externalId: external_id, createdAt: created_at, updatedAt: updated_at },
  etag: etagOfAll(id, revision)
})

const keyOf = (name: string): string => name.toLowerCase()

const longestName = 64

/** The name that a group has in rules: other characters than those of names become hyphens. */
const nameOf = (displayName: string): Effect.Effect<GroupName, ValidationError> => {
  const plain = displayName
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .replace(/[^A-Za-z0-9 ._-]+/g, "-")
    .replace(/^[^A-Za-z0-9]+/, "")
  // A name is never a UUID, in place of which commands take an id.
  const name = [plain.slice(0, longestName).trim(), `group ${plain}`.slice(0, longestName).trim()].find((text) =>
    groupNameForm.is(text)
  )
  return name !== undefined && groupNameForm.is(name)
    ? Effect.succeed(name)
    : new ValidationError({ message: `displayName: ${groupNameForm.message}` })
}

const unknownMember = (id: string) =>
  new ValidationError({
    message: `members: ${/^[A-Za-z0-9_.@-]{1,100}$/.test(id) ? id : "an id"} is not a user of this directory`
  })

/** The groups of an organization whose members a directory alone changes. */
export class ScimGroups extends Effect.Service<ScimGroups>()("@coffer/server/ScimGroups", {
  effect: Effect.gen(function* () {
    const { provisioning } = yield* Access
    const repo = yield* directoryGroupsRepo
    const people = yield* peopleRepo
    const plainRepo = yield* groupsRepo
    const groups = yield* Groups
    const audit = yield* AuditLog

    const findRow = (token: DirectoryToken, id: string) =>
      Effect.flatMap(repo.find({ orgId: token.org.id, id }), (row): Effect.Effect<DirectoryGroupRow, NotFound> =>
        row === undefined ? new NotFound({ message: `group ${id} does not exist` }) : Effect.succeed(row)
      )

    const get = (token: DirectoryToken, id: string) => Effect.map(findRow(token, id), groupOf)

    /**
     * Makes these people the listed ones of a group, and those of them who are members of the organization its members. Compares both
     * with what is there, so that a repeat changes nothing. Returns whether anything changed.
     */
    const settleMembers = Effect.fnUntraced(function* (
      token: DirectoryToken,
      { id: groupId, name }: Pick<DirectoryGroupRow, "id" | "name">,
      ids: ReadonlyArray<string>
    ): Effect.fn.Return<boolean, Refusal, Transaction> {
      const orgId = token.org.id
      const wanted = new Set(ids)
      if (wanted.size > maxGroupMembers) {
        return yield* new LimitExceeded({
          message: `a group has at most ${maxGroupMembers.toLocaleString("en")} members`
        })
      }
      const found = new Map((yield* people.byIds(orgId, [...wanted])).map((row) => [String(row.id), row]))
      const unknown = ids.find((id) => !found.has(id))
      if (unknown !== undefined) return yield* unknownMember(unknown)
      const listed = new Set((yield* repo.listed(groupId)).map(({ id }) => String(id)))
      const [listing, unlisting] = [ids.filter((id) => !listed.has(id)), [...listed].filter((id) => !wanted.has(id))]
      for (const id of unlisting) yield* repo.unlist({ groupId, id })
      yield* repo.list([...new Set(listing)].map((id) => ({ group_id: groupId, scim_user_id: id })))

      const here = new Map(
        [...found.values()].flatMap(({ email, role, user_id }) =>
          role === null || user_id === null ? [] : [[user_id, email] as const]
        )
      )
      const before = new Map((yield* plainRepo.members(groupId)).map(({ email, user_id }) => [user_id, email]))
      const added = [...here].filter(([userId]) => !before.has(userId))
      const removed = [...before].filter(([userId]) => !here.has(userId))
      const created_at = yield* now
      for (const [userId] of removed) yield* plainRepo.removeMember({ userId, orgId, groupId })
      yield* plainRepo.addMembers(
        added.map(([user_id]) => ({ user_id, org_id: orgId, group_id: groupId, added_by: "SCIM", created_at }))
      )
      if (added.length > 0 || removed.length > 0) {
        yield* audit.change(sourceOf(provisioning(token, "group.members")), {
          action: "group.members_set",
          resource_type: "group",
          resource_id: groupId,
          metadata: {
            name,
            members: here.size,
            added: added.map(([, email]) => email),
            removed: removed.map(([, email]) => email)
          }
        })
      }
      return listing.length + unlisting.length + added.length + removed.length > 0
    })

    const create = method(
      "ScimGroups.create",
      function* (
        token: DirectoryToken,
        { displayName, externalId, members }: WantedGroup
      ): Effect.fn.Return<DirectoryGroup, Refusal, Transaction> {
        const orgId = token.org.id
        const key = keyOf(displayName)
        if ((yield* repo.byName({ orgId, key })) !== undefined) {
          return yield* new Conflict({ message: `displayName: ${displayName} is another group's` })
        }
        const name = yield* nameOf(displayName)
        const { id } = yield* groups.create(provisioning(token, "group.create"), name)
        yield* repo.insert([
          { id, org_id: orgId, display_name: displayName, name_key: key, external_id: externalId, revision: 1 }
        ])
        yield* settleMembers(token, { id, name }, members)
        return yield* get(token, id)
      }
    )

    /** Changes a group. `change` says what is wanted, by what the group is. */
    const update = method("ScimGroups.update", function* <
      E
    >(token: DirectoryToken, id: string, ifMatch: string | undefined, change: (group: DirectoryGroup, members: ReadonlyArray<ListedMember>) => Effect.Effect<WantedGroup, E>): Effect.fn.Return<
      DirectoryGroup,
      E | Refusal,
      Transaction
    > {
      const orgId = token.org.id
      const row = yield* findRow(token, id)
      const before = groupOf(row)
      yield* checkETag(`group ${id}`, ifMatch, before.etag)
      const { displayName, externalId, members } = yield* change(before, yield* repo.listed(row.id))
      const isRenamed = displayName !== row.display_name
      let { name } = row
      if (isRenamed) {
        const other = yield* repo.byName({ orgId, key: keyOf(displayName) })
        if (other !== undefined && other.id !== row.id) {
          return yield* new Conflict({ message: `displayName: ${displayName} is another group's` })
        }
        const newName = yield* nameOf(displayName)
        yield* groups.rename(provisioning(token, "group.update"), name, newName)
        name = newName
      }
      const isSettled = yield* settleMembers(token, { id: row.id, name }, members)
      if (isRenamed || isSettled || externalId !== row.external_id) {
        yield* repo.update({ id, displayName, key: keyOf(displayName), externalId })
        yield* repo.touch({ id, now: yield* now })
      }
      return yield* get(token, id)
    })

    const remove = method(
      "ScimGroups.remove",
      function* (token: DirectoryToken, id: string, ifMatch: string | undefined) {
        const row = yield* findRow(token, id)
        yield* checkETag(`group ${id}`, ifMatch, groupOf(row).etag)
        yield* groups.remove(provisioning(token, "group.delete"), row.name)
      }
    )

    return {
      get,
      create,
      update,
      remove,
      all: ({ org }: DirectoryToken) => Effect.map(repo.all({ orgId: org.id }), (rows) => rows.map(groupOf)),
      listed: (id: GroupId): Effect.Effect<ReadonlyArray<ListedMember>> => repo.listed(id)
    } as const
  }),
  dependencies: [Groups.Default]
}) {}
