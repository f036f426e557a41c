import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { Authentication } from "../Actor.js"
import { Conflict, Forbidden } from "../Errors.js"
import { UserId } from "../Ids.js"
import { withMessage } from "../Message.js"
import { integerParameter, optional } from "../Schemas.js"
import { UserCursor } from "../UserCursor.js"
import { DisabledUser, UserPage, UserRecord } from "../UserRecord.js"
import { Admission, Requires } from "./Requirement.js"

const prefixMessage = withMessage("must be the beginning of an e-mail address, of at most 254 characters")
const EmailPrefix = Schema.String.pipe(Schema.pattern(/^[A-Za-z0-9!#$%&'*+/=?^_`{|}~.@-]{1,254}$/, prefixMessage))

const flagMessage = withMessage("must be true or false")

const UserPath = Schema.Struct({ user_id: UserId })

export class UsersApi extends HttpApiGroup.make("users")
  .add(
    HttpApiEndpoint.get("list", "/api/users")
      .setUrlParams(
        Schema.Struct({
          email: optional(EmailPrefix),
          disabled: optional(Schema.Literal("true", "false").annotations(flagMessage)),
          limit: optional(integerParameter(1, 100)),
          after: optional(UserCursor)
        })
      )
      .addSuccess(UserPage)
      .addError(Forbidden)
      .annotate(Requires, "superadmin")
      .annotate(OpenApi.Summary, "List the people whom the server knows, by e-mail")
  )
  .add(
    HttpApiEndpoint.post("disable", "/api/users/:user_id/disable")
      .setPath(UserPath)
      .addSuccess(DisabledUser)
      .addError(Forbidden)
      .addError(Conflict)
      .annotate(Requires, "superadmin")
      .annotate(OpenApi.Summary, "Disable a person: sessions and login codes end at once")
      .annotate(
        OpenApi.Description,
        "No way in is left: a login answers as ever and mails nothing, and an invitation is taken and changes nothing about it. Memberships stay for the day when the person is enabled. Service accounts that the person made go on: the answer lists them, at most 1,000, for their keys may be known to the person. Nobody disables themselves, nor the last superadmin who is enabled."
      )
  )
  .add(
    HttpApiEndpoint.post("enable", "/api/users/:user_id/enable")
      .setPath(UserPath)
      .addSuccess(UserRecord)
      .addError(Forbidden)
      .annotate(Requires, "superadmin")
      .annotate(OpenApi.Summary, "Let a disabled person log in again")
  )
  .add(
    HttpApiEndpoint.post("endSessions", "/api/users/:user_id/end-sessions")
      .setPath(UserPath)
      .addSuccess(UserRecord)
      .addError(Forbidden)
      .annotate(Requires, "superadmin")
      .annotate(OpenApi.Summary, "End a person's sessions and pending login code")
  )
  .middleware(Admission)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Users")
  .annotate(OpenApi.Description, "The people whom the server knows, for superadmins") {}
