import { Api } from "@coffer/domain/Api"
import { Group, GroupMember } from "@coffer/domain/directory/Group"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Access } from "../../access/Access.js"
import { longList } from "../../http/LongList.js"
import { Groups } from "./Groups.js"
import { Mappings } from "./Mappings.js"

const groupList = longList(Group)
const memberList = longList(GroupMember)
const existing = HttpServerResponse.schemaJson(GroupMember)

export const GroupsHttp = HttpApiBuilder.group(Api, "groups", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const groups = yield* Groups
    const mappings = yield* Mappings
    return handlers
      .handle("create", ({ path, payload }) =>
        access.change(access.org(path, "group.create"), (place) => groups.create(place, payload.name))
      )
      .handle("list", ({ path }) =>
        Effect.flatMap(Effect.flatMap(access.org(path, "group.list"), groups.list), (data) => groupList({ data }))
      )
      .handle("get", ({ path }) =>
        Effect.flatMap(access.org(path, "group.list"), (place) => groups.get(place, path.group_name))
      )
      .handle("rename", ({ path, payload }) =>
        access.change(access.org(path, "group.update"), (place) => groups.rename(place, path.group_name, payload.name))
      )
      .handle("remove", ({ path }) =>
        access.change(access.org(path, "group.delete"), (place) => groups.remove(place, path.group_name))
      )
      .handle("members", ({ path }) =>
        Effect.flatMap(
          Effect.flatMap(access.org(path, "group.list"), (place) => groups.members(place, path.group_name)),
          (data) => memberList({ data })
        )
      )
      .handle("setMembers", ({ path, payload }) =>
        access.change(access.org(path, "group.members"), (place) =>
          groups.setMembers(place, path.group_name, payload.emails)
        )
      )
      .handle("addMember", ({ path, payload }) =>
        Effect.gen(function* () {
          const { created, member } = yield* access.change(access.org(path, "group.members"), (place) =>
            groups.addMember(place, path.group_name, payload.email)
          )
          return created ? member : yield* Effect.orDie(existing(member, { status: 200 }))
        })
      )
      .handle("removeMember", ({ path }) =>
        access.change(access.org(path, "group.members"), (place) =>
          groups.removeMember(place, path.group_name, path.user_id)
        )
      )
      .handle("mappings", ({ path }) => Effect.flatMap(access.org(path, "group.list"), mappings.list))
      .handle("setMappings", ({ path, payload }) =>
        access.change(access.org(path, "group.map"), (place) => mappings.set(place, payload.mappings))
      )
  })
).pipe(Layer.provide([Groups.Default, Mappings.Default]))
