import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { Authentication } from "../Actor.js"
import { Conflict, Forbidden } from "../Errors.js"
import { UserId } from "../Ids.js"
import { withMessage } from "../Message.js"
import { LimitParameter, optional } from "../Schemas.js"
import { UserCursor } from "../UserCursor.js"
import { DisabledUser, UserPage, UserRecord } from "../UserRecord.js"
import { Admission, Requires } from "./Requirement.js"

const prefixMessage = withMessage("must be the beginning of an e-mail address, of at most 254 characters")
export const EmailPrefix = Schema.String.pipe(
  Schema.pattern(/^[A-Za-z0-9!#$%&'*+/=?^_`{|}~.@-]{1,254}$/, prefixMessage)
)

const flagMessage = withMessage("must be true or false")

const UserPath = Schema.Struct({ user_id: UserId })

export class UsersApi extends HttpApiGroup.make("users")
  .add(
    HttpApiEndpoint.get("list", "/api/users")
      .setUrlParams(
        Schema.Struct({
          email: optional(EmailPrefix),
          disabled: optional(Schema.Literal("true", "false").annotations(flagMessage)),
          limit: optional(LimitParameter),
          after: optional(UserCursor)
        })
      )
      .addSuccess(UserPage)
      .addError(Forbidden)
      .annotate(Requires, "superadmin")
      .annotate(OpenApi.Summary, "List all users, by e-mail")
  )
  .add(
    HttpApiEndpoint.post("disable", "/api/users/:user_id/disable")
      .setPath(UserPath)
      .addSuccess(DisabledUser)
      .addError(Forbidden)
      .addError(Conflict)
      .annotate(Requires, "superadmin")
      .annotate(OpenApi.Summary, "Disable a user: sessions and login codes end at once")
      .annotate(
        OpenApi.Description,
        "The user cannot log in: login requests return the usual response but mail no code, even after an invitation. Memberships are kept until the user is enabled. Service accounts that the user created stay valid: the response lists up to 1,000 of them, because the user may know their keys. CONFLICT for yourself and for the last enabled superadmin."
      )
  )
  .add(
    HttpApiEndpoint.post("enable", "/api/users/:user_id/enable")
      .setPath(UserPath)
      .addSuccess(UserRecord)
      .addError(Forbidden)
      .annotate(Requires, "superadmin")
      .annotate(OpenApi.Summary, "Enable a disabled user")
  )
  .add(
    HttpApiEndpoint.post("endSessions", "/api/users/:user_id/end-sessions")
      .setPath(UserPath)
      .addSuccess(UserRecord)
      .addError(Forbidden)
      .annotate(Requires, "superadmin")
      .annotate(OpenApi.Summary, "End a user's sessions and pending login code")
  )
  .middleware(Admission)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Users")
  .annotate(OpenApi.Description, "All users of the server, for superadmins") {}
