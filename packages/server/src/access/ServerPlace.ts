import { type Actor, currentActor, CurrentCaller, type UserActor } from "@coffer/domain/access/Actor"
import type { Forbidden } from "@coffer/domain/errors/Errors"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { actorSource } from "../audit/AuditEvent.js"
import { AuditLog } from "../audit/AuditLog.js"
import { ServerConfig } from "../base/Config.js"
import { refuse } from "./place/RefusedAccess.js"

/** Proof that the actor is a superadmin, for actions on the whole server. */
class ServerPlace {
  protected readonly entered = true
  constructor(
    readonly actor: UserActor,
    readonly action: string
  ) {}
}

/** Proof that an operator's program is running, which holds the database file and the master key. */
class Operator {
  protected readonly entered = true
}

// Types only: other modules cannot construct one.
export type { ServerPlace, Operator }

/** Dies within an API request: its actor must enter a place. */
export const operator: Effect.Effect<Operator> = Effect.flatMap(
  Effect.serviceOption(CurrentCaller),
  Option.match({
    onNone: () => Effect.sync(() => new Operator()),
    onSome: () => Effect.dieMessage("a caller of the API has to enter a place")
  })
)

/** The rights on the whole server. */
export const makeServerRights = Effect.gen(function* () {
  const audit = yield* AuditLog
  const { orgCreation } = yield* ServerConfig

  const refusedHere = (actor: Actor, action: string, message: string) =>
    refuse(audit, actorSource(actor), { resource_type: "server", resource_id: null, metadata: { action } }, message)

  /** Admits persons, for what each does for itself alone. */
  const person = (action: string) =>
    Effect.flatMap(currentActor, (actor): Effect.Effect<UserActor, Forbidden> => {
      if (actor.type === "user") return Effect.succeed(actor)
      const { orgId } = actor
      const refusal = { resource_type: "org", resource_id: orgId, metadata: { action } } as const
      const message = "a service account cannot do this: a person has to"
      return refuse(audit, { ...actorSource(actor), orgId }, refusal, message)
    })

  /** Admits superadmins only. */
  const serverPlace = (action: string) =>
    Effect.flatMap(currentActor, (actor) =>
      actor.type === "user" && actor.superadmin
        ? Effect.succeed(new ServerPlace(actor, action))
        : refusedHere(actor, action, "this needs a superadmin: their e-mails are in the server's settings")
    )

  /** Admits actors that may create organizations. */
  const founder = Effect.fnUntraced(function* () {
    const actor = yield* currentActor
    if (actor.type === "service_account") {
      const message = "a service account cannot create organizations: a person has to"
      return yield* refusedHere(actor, "org.create", message)
    }
    if (orgCreation === "superadmin" && !actor.superadmin) {
      const message = "only superadmins create organizations on this server: ask one of them"
      return yield* refusedHere(actor, "org.create", message)
    }
    return actor
  })

  return { serverPlace, founder, person } as const
})
