import type { Action } from "@coffer/domain/access/Permissions"
import type * as Module from "@coffer/server/access/Access"
import * as access from "@coffer/server/access/Access"
import type * as Server from "@coffer/server/access/ServerPlace"
import * as server from "@coffer/server/access/ServerPlace"

// Operations on a place that no other module can perform. Each line compiles where the rule above it is given up.

declare const project: Module.Place<"project.read">
declare const env: Module.Place<"secret.read">
declare const serverPlace: Server.ServerPlace
declare const somewhere: Module.EnvPlace<Action>
/** The public shape of a type: all members that other modules see. */
type Like<A> = { readonly [Name in keyof A]: A[Name] }
declare const likeProject: Like<typeof project>
declare const likeServerPlace: Like<typeof serverPlace>
declare const likeOperator: object
declare const wanted: {
  readonly org: (place: Module.Place<"org.read">) => void
  readonly project: (place: Module.Place<"project.read">) => void
  readonly read: (place: Module.Place<"secret.read">) => void
  readonly write: (place: Module.Place<"secret.write">) => void
  readonly serverPlace: (proof: Server.ServerPlace) => void
  readonly operator: (proof: Server.Operator) => void
}

wanted.project(project)
wanted.read(env)
wanted.serverPlace(serverPlace)

// The classes are types alone: nobody else has a constructor.
// @ts-expect-error -- no value
export const orgPlace = access.OrgPlace
// @ts-expect-error -- no value
export const projectPlace = access.ProjectPlace
// @ts-expect-error -- no value
export const envPlace = access.EnvPlace
// @ts-expect-error -- no value
export const everyPlace = server.ServerPlace
// @ts-expect-error -- no value
export const operator = server.Operator

// A place is told from what looks like one.
// @ts-expect-error -- nobody let it in
wanted.project(likeProject)
// @ts-expect-error -- nobody let it in
wanted.serverPlace(likeServerPlace)
// @ts-expect-error -- nobody let it in
wanted.operator(likeOperator)

// A place is entered to do one thing.
// @ts-expect-error -- it was entered to read
wanted.write(env)
// @ts-expect-error -- it was entered to read a project
wanted.org(project)
// @ts-expect-error -- what may be done is not known
wanted.read(somewhere)
