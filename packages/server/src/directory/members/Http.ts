import { Api } from "@coffer/domain/Api"
import { Member } from "@coffer/domain/directory/Member"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Access } from "../../access/Access.js"
import { inSteps } from "../../database/InSteps.js"
import { longList } from "../../http/LongList.js"
import { makeDepartures } from "./Departures.js"
import { Members } from "./Members.js"

const listed = longList(Member)

export const MembersHttp = HttpApiBuilder.group(Api, "members", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const members = yield* Members
    const { endRest } = yield* makeDepartures
    return handlers
      .handle("invite", ({ path, payload }) =>
        Effect.map(
          inSteps(
            access.change(access.org(path, "member.invite"), (place) =>
              members.invite(place, payload.email, payload.role)
            )
          ),
          ({ member }) => member
        )
      )
      .handle("list", ({ path }) =>
        Effect.flatMap(Effect.flatMap(access.org(path, "member.list"), members.list), (data) => listed({ data }))
      )
      .handle("setRole", ({ path, payload }) =>
        access.change(access.org(path, "member.update"), (place) => members.setRole(place, path.user_id, payload.role))
      )
      .handle("leave", ({ path }) =>
        Effect.flatMap(access.change(access.org(path, "member.leave"), members.leave), endRest)
      )
      .handle("remove", ({ path }) =>
        Effect.flatMap(
          access.change(access.org(path, "member.remove"), (place) => members.remove(place, path.user_id)),
          endRest
        )
      )
  })
).pipe(Layer.provide(Members.Default))
