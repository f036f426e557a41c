import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { Authentication } from "../access/Actor.js"
import { LeaseId } from "../base/Ids.js"
import { ConnectionName } from "../base/Names.js"
import { body, list } from "../base/Schemas.js"
import { Conflict, DecryptionFailed, LimitExceeded, Overloaded, RateLimited, UpstreamFailed } from "../errors/Errors.js"
import { Connection, ConnectionTest, newConnection } from "../secrets/Connection.js"
import { guarded } from "./AskingHeaders.js"
import { EnvPath, envPath, paths } from "./Paths.js"
import { Admission, RecentLogin, recentLogin, requires } from "./Requirement.js"
import { response } from "./Response.js"

const connections = `${paths.env}/connections` as const
const connection = `${connections}/:connection_name` as const
const OrphanPath = Schema.Struct({ ...envPath, connection_name: ConnectionName, lease_id: LeaseId })
const ConnectionPath = Schema.Struct({ ...envPath, connection_name: ConnectionName })

export class ConnectionsApi extends HttpApiGroup.make("connections")
  .add(
    HttpApiEndpoint.get("list", connections)
      .setPath(EnvPath)
      .addSuccess(response(list(Connection), "The connections"))
      .pipe(requires("connection.list"))
      .annotate(OpenApi.Summary, "List the connections of an environment")
      .annotate(OpenApi.Description, "By name, for admins and owners. Passwords are secrets of the environment.")
  )
  .add(
    HttpApiEndpoint.post("create", connections)
      .setPath(EnvPath)
      .setPayload(body(newConnection))
      .addSuccess(response(Connection, "The new connection"), { status: 201 })
      .pipe(requires("connection.create"), recentLogin("always"))
      .pipe(guarded)
      .addError(Conflict)
      .addError(LimitExceeded)
      .annotate(OpenApi.Summary, "Let the server log in to a database")
      .annotate(
        OpenApi.Description,
        "For admins and owners. The password is the secret `password_key` of the environment: it is read at each use, never copied. VALIDATION_ERROR if SERVICE_RENEWAL_NETWORKS is empty, or if the address is not public and it does not list it."
      )
  )
  .add(
    HttpApiEndpoint.del("delete", connection)
      .setPath(ConnectionPath)
      .addSuccess(response(HttpApiSchema.NoContent, "The connection is removed"))
      .pipe(requires("connection.delete"))
      .pipe(guarded)
      .addError(Conflict)
      .addError(LimitExceeded)
      .annotate(RecentLogin, "never")
      .annotate(OpenApi.Summary, "Remove a connection")
      .annotate(OpenApi.Description, "The users in the database and their passwords stay.")
  )
  .add(
    HttpApiEndpoint.post("test", `${connection}/test`)
      .setPath(ConnectionPath)
      .addSuccess(response(ConnectionTest, "What the user may do"))
      .pipe(requires("connection.test"))
      .addError(RateLimited)
      .annotate(RecentLogin, "never")
      .annotate(OpenApi.Summary, "Try a connection")
      .annotate(
        OpenApi.Description,
        "Logs in, asks what the user may do and which users of leases are left there, and changes nothing. A failed login is no error: `problem` has the reason. At most 10 a minute."
      )
  )
  .add(
    HttpApiEndpoint.del("removeOrphan", `${connection}/orphans/:lease_id`)
      .setPath(OrphanPath)
      .addSuccess(response(HttpApiSchema.NoContent, "The database has no such user"))
      .pipe(requires("orphan.delete"), recentLogin("always"))
      .addError(Conflict)
      .addError(DecryptionFailed)
      .addError(UpstreamFailed)
      .addError(Overloaded)
      .annotate(OpenApi.Summary, "Remove a user that a lease left in a database")
      .annotate(
        OpenApi.Description,
        "For admins and owners. Ends its sessions, gives what it owns to the connection's user and removes it. CONFLICT while a lease has it: end that."
      )
  )
  .middleware(Admission)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Connections")
  .annotate(OpenApi.Description, "Databases that the server logs in to, to renew the credentials of an environment") {}
