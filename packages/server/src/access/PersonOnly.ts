import { currentActor, type UserActor } from "@coffer/domain/Actor"
import type { Forbidden } from "@coffer/domain/Errors"
import * as Effect from "effect/Effect"
import { actorSource } from "../audit/AuditEvent.js"
import type { AuditLog } from "../audit/AuditLog.js"
import { refuse } from "./Refusal.js"

/** Admits persons, for what each does for itself alone. The refusal of a service account is recorded. */
export const personOnly = (audit: AuditLog, message: string) => (action: string) =>
  Effect.flatMap(currentActor, (actor): Effect.Effect<UserActor, Forbidden> => {
    if (actor.type === "user") return Effect.succeed(actor)
    const { orgId } = actor
    const refusal = { resource_type: "org", resource_id: orgId, metadata: { action } } as const
    return refuse(audit, { ...actorSource(actor), orgId }, refusal, message)
  })
