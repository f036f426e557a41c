import { type Actor, CurrentActor } from "@coffer/domain/Actor"
import { Api } from "@coffer/domain/Api"
import type { Identity } from "@coffer/domain/User"
import { Session } from "@coffer/domain/Session"
import { HttpApiBuilder } from "@effect/platform"
import { Effect, Layer } from "effect"
import { Access } from "../access/Access.js"
import { longList } from "../http/LongList.js"
import { Login } from "./Login.js"
import { Sessions } from "./Sessions.js"

const identityOf = (actor: Actor): Identity =>
  actor.type === "user"
    ? { id: actor.id, type: actor.type, email: actor.email, name: actor.name, is_superadmin: actor.superadmin }
    : {
        id: actor.id,
        type: actor.type,
        name: actor.name,
        org: actor.orgName,
        project: actor.project?.name ?? null,
        is_superadmin: false
      }

const listed = longList(Session)
const sent = { message: "if this address may log in, a code of 6 digits is on its way; it is good for 10 minutes" }

export const AuthHttp = HttpApiBuilder.group(Api, "auth", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const login = yield* Login
    const sessions = yield* Sessions
    return handlers
      .handle("login", ({ payload }) => Effect.as(login.request(payload.email), sent))
      .handle("verify", ({ payload }) => Effect.map(login.verify(payload.email, payload.code), (token) => ({ token })))
      .handle("logout", () => access.change(CurrentActor, sessions.logout))
      .handle("me", () => Effect.map(CurrentActor, identityOf))
      .handle("sessions", () => Effect.flatMap(Effect.flatMap(CurrentActor, sessions.list), (data) => listed({ data })))
      .handle("endSession", ({ path }) => access.change(CurrentActor, (actor) => sessions.end(actor, path.session_id)))
      .handle("endSessions", () => access.change(CurrentActor, sessions.endAll))
  })
).pipe(Layer.provide([Login.Default, Sessions.Default]))
