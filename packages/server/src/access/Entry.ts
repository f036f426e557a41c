import type { CurrentActor } from "@coffer/domain/Actor"
import type { Requirement } from "@coffer/domain/api/Requirement"
import type { Forbidden, NotFound } from "@coffer/domain/Errors"
import { EnvName, OrgName, ProjectName } from "@coffer/domain/Names"
import { optional } from "@coffer/domain/Schemas"
import { Effect, Schema } from "effect"
import type { Access } from "./Access.js"

/** The place that a decoded path names, whatever else it names. */
const placeOf = Schema.decodeUnknown(
  Schema.typeSchema(
    Schema.Struct({ org_name: OrgName, project_name: optional(ProjectName), env_name: optional(EnvName) })
  )
)

/**
 * Checks whether the caller may make a call at the place on its path, before the body is read: nobody without the right
 * makes the server read, hold or parse anything large. The handler checks again, because rights may change while a body
 * arrives. What depends on the body is left to the handler.
 */
export const entry = (
  access: Access,
  requires: Requirement,
  call: string
): ((path: unknown) => Effect.Effect<void, Forbidden | NotFound, CurrentActor>) => {
  switch (requires) {
    case "nothing":
    case "credential":
      return () => Effect.void
    case "superadmin":
      return () => access.everywhere(call)
    case "org.create":
      return () => access.founder()
    default:
      return (path) => Effect.flatMap(Effect.orDie(placeOf(path)), (place) => access.check(place, requires))
  }
}
