import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { Authentication } from "../access/Actor.js"
import { LeaseRoleName } from "../base/Names.js"
import { body, list } from "../base/Schemas.js"
import { Conflict, LimitExceeded } from "../errors/Errors.js"
import { LeaseRole, newLeaseRole } from "../secrets/LeaseRole.js"
import { guarded } from "./AskingHeaders.js"
import { EnvPath, envPath, paths } from "./Paths.js"
import { Admission, RecentLogin, recentLogin, requires } from "./Requirement.js"
import { response } from "./Response.js"

const roles = `${paths.env}/roles` as const
const role = `${roles}/:role_name` as const
const RolePath = Schema.Struct({ ...envPath, role_name: LeaseRoleName })

export class LeaseRolesApi extends HttpApiGroup.make("leaseRoles")
  .add(
    HttpApiEndpoint.get("list", roles)
      .setPath(EnvPath)
      .addSuccess(response(list(LeaseRole), "The roles"))
      .pipe(requires("lease_role.list"))
      .annotate(OpenApi.Summary, "List the roles of an environment")
      .annotate(OpenApi.Description, "By name, for admins and owners.")
  )
  .add(
    HttpApiEndpoint.post("create", roles)
      .setPath(EnvPath)
      .setPayload(body(newLeaseRole))
      .addSuccess(response(LeaseRole, "The new role"), { status: 201 })
      .pipe(requires("lease_role.create"), recentLogin("always"))
      .pipe(guarded)
      .addError(Conflict)
      .addError(LimitExceeded)
      .annotate(OpenApi.Summary, "Let callers lease users of a database")
      .annotate(
        OpenApi.Description,
        "For admins and owners. From then on, everyone who may read values in the environment may lease a user that these statements make. Statements that lack a slot, or have one within quotes, are VALIDATION_ERROR."
      )
  )
  .add(
    HttpApiEndpoint.get("get", role)
      .setPath(RolePath)
      .addSuccess(response(LeaseRole, "The role"))
      .pipe(requires("lease_role.list"))
      .annotate(OpenApi.Summary, "Read a role")
      .annotate(OpenApi.Description, "For admins and owners.")
  )
  .add(
    HttpApiEndpoint.del("delete", role)
      .setPath(RolePath)
      .addSuccess(response(HttpApiSchema.NoContent, "The role is removed"))
      .pipe(requires("lease_role.delete"))
      .pipe(guarded)
      .addError(Conflict)
      .addError(LimitExceeded)
      .annotate(RecentLogin, "never")
      .annotate(OpenApi.Summary, "Remove a role")
      .annotate(OpenApi.Description, "CONFLICT while it has leases: their users are removed by its statements.")
  )
  .middleware(Admission)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Roles")
  .annotate(OpenApi.Description, "How users of databases are made for each caller, and removed") {}
