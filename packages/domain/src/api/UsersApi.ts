import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { Authentication } from "../access/Actor.js"
import { Conflict } from "../errors/Errors.js"
import { graceId } from "../base/Examples.js"
import { UserId } from "../base/Ids.js"
import { field, LimitParameter, optional } from "../base/Schemas.js"
import { UserCursor } from "../directory/UserCursor.js"
import { DisabledParameter, DisabledUser, EmailPrefix, UserPage, UserRecord } from "../directory/UserRecord.js"
import { response } from "./Response.js"
import { Admission, Compressible, RecentLogin, recentLogin, requires } from "./Requirement.js"

const UserPath = Schema.Struct({ user_id: field(UserId, "the user's id", graceId) })

export class UsersApi extends HttpApiGroup.make("users")
  .add(
    HttpApiEndpoint.get("list", "/api/users")
      .setUrlParams(
        Schema.Struct({
          email: optional(EmailPrefix),
          disabled: optional(DisabledParameter),
          limit: optional(LimitParameter),
          after: optional(UserCursor)
        })
      )
      .addSuccess(response(UserPage, "A page of users"))
      .pipe(requires("superadmin"))
      .annotate(Compressible, true)
      .annotate(OpenApi.Summary, "List all users, by e-mail")
      .annotate(
        OpenApi.Description,
        "For superadmins. Sorted by e-mail. `email` filters by prefix, `disabled` by state. Send `next_cursor` as `after` to get the next page."
      )
  )
  .add(
    HttpApiEndpoint.post("disable", "/api/users/:user_id/disable")
      .setPath(UserPath)
      .addSuccess(
        response(DisabledUser, "The user, and the live service accounts that the user created", {
          disabled_at: "2026-01-31T12:00:00.000Z",
          sessions: 0
        })
      )
      .pipe(requires("superadmin"), recentLogin("always"))
      .addError(Conflict)
      .annotate(OpenApi.Summary, "Disable a user: sessions and login codes end at once")
      .annotate(
        OpenApi.Description,
        "The user cannot log in: login requests return the usual response but mail no code, even after an invitation. Memberships are kept until the user is enabled. Service accounts that the user created stay valid: the response lists up to 1,000 of them, because the user may know their keys. CONFLICT for yourself and for the last enabled superadmin."
      )
  )
  .add(
    HttpApiEndpoint.post("enable", "/api/users/:user_id/enable")
      .setPath(UserPath)
      .addSuccess(response(UserRecord, "The user"))
      .pipe(requires("superadmin"), recentLogin("always"))
      .annotate(OpenApi.Summary, "Enable a disabled user")
      .annotate(OpenApi.Description, "For superadmins. The user's earlier sessions and codes remain invalid.")
  )
  .add(
    HttpApiEndpoint.post("endSessions", "/api/users/:user_id/end-sessions")
      .setPath(UserPath)
      .addSuccess(response(UserRecord, "The user", { sessions: 0 }))
      .pipe(requires("superadmin"))
      .annotate(RecentLogin, "never")
      .annotate(OpenApi.Summary, "End a user's sessions and pending login code")
      .annotate(OpenApi.Description, "For superadmins. The user may log in again at once.")
  )
  .middleware(Admission)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Users")
  .annotate(OpenApi.Description, "All users of the server, for superadmins") {}
