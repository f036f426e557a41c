import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "@effect/platform"
import { Schema } from "effect"
import { Authentication } from "../Actor.js"
import { InvalidCode, LockedOut, RateLimited } from "../Errors.js"
import { SessionId } from "../Ids.js"
import { Email, LoginCode } from "../Names.js"
import { body, list } from "../Schemas.js"
import { Session } from "../Session.js"
import { Identity } from "../User.js"
import { Admission, BodyLimit, Requires } from "./Requirement.js"

const smallBody = 8 * 1024

export class AuthApi extends HttpApiGroup.make("auth")
  .add(
    HttpApiEndpoint.post("login", "/api/auth/login")
      .setPayload(body({ email: Email }))
      .addSuccess(Schema.Struct({ message: Schema.String }))
      .addError(RateLimited)
      .annotate(Requires, "nothing")
      .annotate(BodyLimit, smallBody)
      .annotate(OpenApi.Summary, "Ask for a login code by e-mail")
      .annotate(
        OpenApi.Description,
        "Mails a code of 6 digits, valid for 10 minutes. The response does not reveal whether the address has an account. A new request replaces the code. Rate limits: 5 requests per e-mail and 30 per client address in 15 minutes."
      )
  )
  .add(
    HttpApiEndpoint.post("verify", "/api/auth/verify")
      .setPayload(body({ email: Email, code: LoginCode }))
      .addSuccess(Schema.Struct({ token: Schema.Redacted(Schema.String) }))
      .addError(InvalidCode)
      .addError(LockedOut)
      .annotate(Requires, "nothing")
      .annotate(BodyLimit, smallBody)
      .annotate(OpenApi.Summary, "Exchange a login code for a session token")
      .annotate(
        OpenApi.Description,
        "A wrong code invalidates the pending one. After 10 failures for an e-mail within an hour, every code is refused until the hour has passed."
      )
  )
  .add(
    HttpApiEndpoint.del("logout", "/api/auth/logout")
      .middleware(Authentication)
      .addSuccess(HttpApiSchema.NoContent)
      .annotate(Requires, "credential")
      .annotate(OpenApi.Summary, "End the current session")
      .annotate(OpenApi.Description, "With an API key, this succeeds without effect.")
  )
  .add(
    HttpApiEndpoint.get("me", "/api/auth/me")
      .middleware(Authentication)
      .addSuccess(Identity)
      .annotate(Requires, "credential")
      .annotate(OpenApi.Summary, "Show the owner of the credential")
  )
  .add(
    HttpApiEndpoint.get("sessions", "/api/auth/sessions")
      .middleware(Authentication)
      .addSuccess(list(Session))
      .annotate(Requires, "credential")
      .annotate(OpenApi.Summary, "List the caller's own sessions")
  )
  .add(
    HttpApiEndpoint.del("endSessions", "/api/auth/sessions")
      .middleware(Authentication)
      .addSuccess(HttpApiSchema.NoContent)
      .annotate(Requires, "credential")
      .annotate(OpenApi.Summary, "End all of the caller's sessions")
  )
  .add(
    HttpApiEndpoint.del("endSession", "/api/auth/sessions/:session_id")
      .setPath(Schema.Struct({ session_id: SessionId }))
      .middleware(Authentication)
      .addSuccess(HttpApiSchema.NoContent)
      .annotate(Requires, "credential")
      .annotate(OpenApi.Summary, "End one of the caller's sessions")
  )
  .middleware(Admission)
  .annotate(OpenApi.Title, "Authentication")
  .annotate(OpenApi.Description, "Login by a code sent by e-mail, and the caller's own sessions") {}
