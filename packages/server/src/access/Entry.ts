import { type Caller, CurrentCaller } from "@coffer/domain/access/Actor"
import type { Requirement } from "@coffer/domain/api/Requirement"
import type { Forbidden, NotFound } from "@coffer/domain/errors/Errors"
import { EnvName, OrgName, ProjectName } from "@coffer/domain/base/Names"
import { optional } from "@coffer/domain/base/Schemas"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Access } from "./Access.js"

/** Takes the names of the place from a decoded path; other parameters are dropped. */
const pathNames = Schema.decodeUnknown(
  Schema.typeSchema(
    Schema.Struct({ org_name: OrgName, project_name: optional(ProjectName), env_name: optional(EnvName) })
  )
)

/**
 * Checks the caller's right to a call before its body is read, so that a caller without the right cannot make the server
 * hold or parse a large body. The handler checks again: rights may change while the body arrives.
 */
export const entry = (
  access: Access,
  requires: Requirement,
  call: string
): ((path: unknown, caller: Caller) => Effect.Effect<void, Forbidden | NotFound>) => {
  switch (requires) {
    case "nothing":
    case "credential":
      return () => Effect.void
    case "person":
      return (_path, caller) => Effect.provideService(access.person(call), CurrentCaller, caller)
    case "superadmin":
      return (_path, caller) => Effect.provideService(access.serverPlace(call), CurrentCaller, caller)
    case "org.create":
      return (_path, caller) => Effect.provideService(access.founder(), CurrentCaller, caller)
    default:
      return (path, caller) =>
        Effect.flatMap(Effect.orDie(pathNames(path)), (names) => access.check(caller, names, requires))
  }
}
