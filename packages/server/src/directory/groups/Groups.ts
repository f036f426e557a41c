import { actorName } from "@coffer/domain/access/Actor"
import { Conflict, LimitExceeded, NotFound } from "@coffer/domain/errors/Errors"
import { type Group, type GroupMember, maxGroupMembers } from "@coffer/domain/directory/Group"
import { GroupId, type UserId } from "@coffer/domain/base/Ids"
import type { Email, GroupName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import { type Place, sourceOf } from "../../access/Access.js"
import { notFound } from "../../access/place/NotFound.js"
import type { AuditEvent } from "../../audit/AuditEvent.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { forEachInSlices, mapInSlices } from "../../base/EventLoop.js"
import { method, traced } from "../../base/tracing/Traced.js"
import { recordLimit } from "../../base/Limit.js"
import { now, timestamp } from "../../base/Time.js"
import { uuidV7 } from "../../base/Uuid.js"
import { type BroughtRow, groupsRepo, type GroupRow, type MemberRow } from "./Repo.js"

export const groupLimit = recordLimit(200, (max) => `an organization has at most ${max} groups`)

type GroupPlace = Place<"group.list" | "group.create" | "group.update" | "group.delete" | "group.members">

const byEmail = (a: GroupMember, b: GroupMember): number => (a.email < b.email ? -1 : 1)

/** Returns the facts for a member's record about the login that brought the member. */
const loginOf = (row: BroughtRow | undefined) =>
  row === undefined ? {} : { provider_group: row.provider_group, login_ends_at: timestamp(row.expires_at) }

/** Groups of the members of an organization, who get access rules together. */
export class Groups extends Effect.Service<Groups>()("@coffer/server/Groups", {
  effect: Effect.gen(function* () {
    const repo = yield* groupsRepo
    const audit = yield* AuditLog

    /** The record of a group, with the people whom logins brought. */
    const groupOf = ({ added, is_directory, mapped, ...plain }: GroupRow): Effect.Effect<Group> => {
      const row = { ...plain, source: is_directory === 1 ? ("scim" as const) : ("manual" as const) }
      return mapped === 0
        ? Effect.succeed({ ...row, members: added })
        : Effect.map(repo.countBrought({ groupId: row.id }), ({ count }) => ({ ...row, members: added + count }))
    }

    const find = (place: GroupPlace, name: GroupName) =>
      Effect.flatMap(repo.find({ orgId: place.org.id, name }), (row) =>
        row === undefined ? notFound(`group ${name}`) : Effect.succeed(row)
      )

    /** Finds a group that the actor may change: a directory's own is changed by the directory alone. */
    const findOwn = (place: GroupPlace, name: GroupName) =>
      Effect.flatMap(find(place, name), (row) => {
        const { actor } = place
        const isDirectory = actor.type === "service_account" && actor.credential.type === "scim"
        return row.is_directory === 1 && !isDirectory
          ? new Conflict({ message: `the directory manages group ${name} (SCIM): change it there` })
          : Effect.succeed(row)
      })

    const record = (
      place: GroupPlace,
      action: AuditEvent["action"],
      { id, name }: Pick<GroupRow, "id" | "name">,
      metadata: AuditEvent["metadata"] = {}
    ) =>
      audit.change(sourceOf(place), {
        action,
        resource_type: "group",
        resource_id: id,
        metadata: { name, ...metadata }
      })

    /** Fails if another group has the name, or one that differs in case only. */
    const checkName = Effect.fnUntraced(function* (place: GroupPlace, name: GroupName, exceptId: string) {
      const alike = yield* repo.findAlike({ orgId: place.org.id, name, exceptId })
      if (alike === undefined) return
      const whose = alike.name === name ? "" : `, as ${JSON.stringify(alike.name)}`
      return yield* new Conflict({ message: `the group name ${name} is in use${whose}: choose another` })
    })

    const noPerson = (place: GroupPlace, email: Email) =>
      new NotFound({ message: `${email} is not a member of organization ${place.org.name}` })

    const create = method("Groups.create", function* (place: Place<"group.create">, name: GroupName) {
      const created_at = yield* now
      const id = GroupId.make(yield* uuidV7)
      const created_by = actorName(place.actor)
      yield* groupLimit.room(yield* repo.count({ orgId: place.org.id }))
      yield* checkName(place, name, id)
      yield* repo.insert([{ id, org_id: place.org.id, name, created_by, created_at, updated_at: created_at }])
      yield* record(place, "group.create", { id, name })
      const source = "manual" as const
      const group: Group = { id, name, source, members: 0, rules: 0, created_by, created_at, updated_at: created_at }
      return group
    })

    const list = traced("Groups.list")((place: Place<"group.list">): Effect.Effect<ReadonlyArray<Group>> =>
      Effect.flatMap(repo.all(place.org.id), (rows) => forEachInSlices(rows, groupOf))
    )

    const get = traced("Groups.get")((place: Place<"group.list">, name: GroupName): Effect.Effect<Group, NotFound> =>
      Effect.flatMap(find(place, name), groupOf)
    )

    const rename = method(
      "Groups.rename",
      function* (place: Place<"group.update">, name: GroupName, newName: GroupName) {
        const updated_at = yield* now
        const row = yield* findOwn(place, name)
        const before = yield* groupOf(row)
        if (newName === name) return before
        yield* checkName(place, newName, row.id)
        yield* repo.rename({ id: row.id, name: newName, now: updated_at })
        yield* record(place, "group.update", { id: row.id, name: newName }, { before: name })
        const group: Group = { ...before, name: newName, updated_at }
        return group
      }
    )

    /** Removes a group with its rules and mappings, which a later group of the name must not have. */
    const remove = method("Groups.remove", function* (place: Place<"group.delete">, name: GroupName) {
      const removed_at = yield* now
      const row = yield* findOwn(place, name)
      const { id } = row
      yield* repo.remove({ id, now: removed_at })
      yield* repo.removeMembers({ groupId: id })
      yield* repo.removeMappings({ groupId: id })
      yield* repo.removeListed({ groupId: id })
      yield* repo.removeDirectory({ groupId: id })
      const rules = yield* repo.removeRules({ id, orgId: place.org.id, now: removed_at })
      yield* record(place, "group.delete", row, { rules_removed: rules.length, members: row.added })
    })

    const members = method("Groups.members", function* (place: Place<"group.list">, name: GroupName) {
      const { id } = yield* find(place, name)
      const members = new Map<UserId, GroupMember>((yield* repo.members(id)).map((row) => [row.user_id, row]))
      for (const { provider_group } of yield* repo.providerGroups({ groupId: id })) {
        const rows = yield* repo.brought(place.org.id, provider_group)
        yield* mapInSlices(rows, (row) => {
          const { email, name, user_id } = row
          // Keeps the first of the provider's groups: one login brought all of them.
          members.set(user_id, { ...loginOf(row), ...(members.get(user_id) ?? { user_id, email, name }) })
        })
      }
      return [...members.values()].toSorted(byEmail)
    })

    /** Makes exactly these people the added members of a group. Those who stay keep their time. */
    const setMembers = method(
      "Groups.setMembers",
      function* (place: Place<"group.members">, name: GroupName, emails: ReadonlyArray<Email>) {
        const created_at = yield* now
        const row = yield* findOwn(place, name)
        const before = new Map((yield* repo.members(row.id)).map((member) => [member.email, member]))
        const people = new Map((yield* repo.people(place.org.id)).map((person) => [person.email, person]))
        const added_by = actorName(place.actor)
        const wanted = new Map<Email, MemberRow>()
        for (const email of emails) {
          const person = people.get(email)
          if (person === undefined) return yield* noPerson(place, email)
          wanted.set(email, before.get(email) ?? { ...person, added_by, created_at })
        }
        const added = [...wanted.keys()].filter((email) => !before.has(email))
        const removed = [...before.keys()].filter((email) => !wanted.has(email))
        if (added.length === 0 && removed.length === 0) return yield* groupOf(row)
        yield* repo.removeMembers({ groupId: row.id })
        yield* repo.addMembers(
          [...wanted.values()].map(({ email: _, name: __, ...member }) => ({
            ...member,
            org_id: place.org.id,
            group_id: row.id
          }))
        )
        yield* record(place, "group.members_set", row, { members: wanted.size, added, removed })
        return yield* groupOf({ ...row, added: wanted.size })
      }
    )

    /** Adds a person. Returns whether the person was no member before. */
    const addMember = method(
      "Groups.addMember",
      function* (place: Place<"group.members">, name: GroupName, email: Email) {
        const created_at = yield* now
        const row = yield* findOwn(place, name)
        const person = yield* repo.findPerson({ orgId: place.org.id, email })
        if (person === undefined) return yield* noPerson(place, email)
        const { user_id } = person
        const known = yield* repo.findMember({ groupId: row.id, userId: user_id })
        const login = loginOf(yield* repo.findBrought({ groupId: row.id, orgId: place.org.id, userId: user_id }))
        if (known !== undefined) return { member: { ...known, ...login } satisfies GroupMember, created: false }
        if (row.added >= maxGroupMembers) {
          return yield* new LimitExceeded({
            message: `a group has at most ${maxGroupMembers.toLocaleString("en")} members`
          })
        }
        const added_by = actorName(place.actor)
        yield* repo.addMembers([{ user_id, org_id: place.org.id, group_id: row.id, added_by, created_at }])
        yield* record(place, "group.member_add", row, { email })
        const member: GroupMember = { ...person, added_by, created_at, ...login }
        return { member, created: true }
      }
    )

    const removeMember = method(
      "Groups.removeMember",
      function* (place: Place<"group.members">, name: GroupName, userId: UserId) {
        const row = yield* findOwn(place, name)
        const member = yield* repo.findMember({ groupId: row.id, userId })
        if (member === undefined) {
          const brought = yield* repo.findBrought({ groupId: row.id, orgId: place.org.id, userId })
          if (brought === undefined) return yield* notFound(`member ${userId} of group ${name}`)
          return yield* new Conflict({
            message: `a login brought ${brought.email} into group ${name}, as a member of ${brought.provider_group}: change that at the provider, or remove the mapping of this group`
          })
        }
        yield* repo.removeMember({ userId, orgId: place.org.id, groupId: row.id })
        yield* record(place, "group.member_remove", row, { email: member.email })
      }
    )

    return { create, list, get, rename, remove, members, setMembers, addMember, removeMember } as const
  })
}) {}
