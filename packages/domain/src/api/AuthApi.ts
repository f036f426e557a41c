import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { Authentication } from "../access/Actor.js"
import { CodeVerifier, DeviceCode, DeviceLogin, LoopbackCode, MachineName } from "../directory/ClientLogin.js"
import {
  AuthorizationPending,
  Forbidden,
  InvalidCode,
  IssuerUnavailable,
  LockedOut,
  RateLimited,
  SlowDown,
  Unauthorized
} from "../errors/Errors.js"
import { AccountReference } from "../directory/AccountReference.js"
import { SessionId } from "../base/Ids.js"
import { Email, LoginCode } from "../base/Names.js"
import { withMessage } from "../base/Message.js"
import { ProviderLogout } from "../directory/ProviderLogout.js"
import { body, field, list, optional, Timestamp } from "../base/Schemas.js"
import { OthersParameter, Session } from "../directory/Session.js"
import { LoginMethods } from "../directory/LoginMethods.js"
import { Identity } from "../directory/User.js"
import { response } from "./Response.js"
import { Admission, BodyLimit, ForDelegations, RecentLogin, Requires } from "./Requirement.js"

const smallBody = 8 * 1024

const email = field(Email, "an e-mail address; stored trimmed and in lowercase")

const sentMessage = "if this address may log in, a code of 6 digits is on its way; it is good for 10 minutes"

/** Not a valid token, so that secret scanners do not report the documentation. */
const Token = Schema.Redacted(Schema.String.annotations({ examples: ["svc_st_…"] }))
const SessionToken = Schema.Struct({ token: field(Token, "the session's token; valid for 30 days") })

const tokenRequest = body({
  device_code: optional(DeviceCode, "the program's secret of a login by device"),
  code: optional(LoopbackCode, "the code that the browser brought to the program; valid for one minute, once"),
  verifier: optional(CodeVerifier, "the text whose SHA-256 the program sent as `code_challenge` (RFC 7636)")
}).pipe(
  Schema.filter(
    ({ code, device_code, verifier }) =>
      device_code === undefined ? code !== undefined && verifier !== undefined : (code ?? verifier) === undefined,
    {
      ...withMessage("takes device_code alone, or code and verifier"),
      examples: [{ device_code: Redacted.make("GmRhmhcxhwAzkoEqiMEgDnyEysNkuNhszIySk9eS-00") }]
    }
  )
)

export class AuthApi extends HttpApiGroup.make("auth")
  .add(
    HttpApiEndpoint.get("methods", "/api/auth/methods")
      .addSuccess(response(LoginMethods, "The ways to log in"))
      .annotate(Requires, "nothing")
      .annotate(OpenApi.Summary, "Show the ways to log in")
      .annotate(OpenApi.Description, "For clients and pages that offer a login.")
  )
  .add(
    HttpApiEndpoint.post("login", "/api/auth/login")
      .setPayload(body({ email }))
      .addSuccess(
        response(
          Schema.Struct({
            message: field(Schema.String, "a message for people; it never contains a value", sentMessage)
          }),
          "The same message for every address"
        )
      )
      .addError(Forbidden)
      .addError(RateLimited)
      .annotate(Requires, "nothing")
      .annotate(RecentLogin, "never")
      .annotate(BodyLimit, smallBody)
      .annotate(OpenApi.Summary, "Ask for a login code by e-mail")
      .annotate(
        OpenApi.Description,
        "Mails a code of 6 digits, valid for 10 minutes. The response does not reveal whether the address has an account. A new request replaces the code. Rate limits: 5 requests per e-mail and 30 per client address in 15 minutes. FORBIDDEN if codes are switched off."
      )
  )
  .add(
    HttpApiEndpoint.post("verify", "/api/auth/verify")
      .setPayload(
        body({
          email,
          code: field(LoginCode, "the 6 digits of the mail"),
          session: optional(
            Schema.Literal("token", "cookie"),
            "how the session's token is returned: in the response, or to a browser as a cookie; default: token",
            "token"
          ),
          machine: optional(MachineName, "the name of the program's machine, which the person's sessions show")
        })
      )
      .addSuccess(response(SessionToken, "The session's token, for `Authorization: Bearer`"))
      .addSuccess(response(HttpApiSchema.NoContent, "The session's cookie is set"))
      .addError(Forbidden)
      .addError(InvalidCode)
      .addError(LockedOut)
      .annotate(Requires, "nothing")
      .annotate(RecentLogin, "never")
      .annotate(BodyLimit, smallBody)
      .annotate(OpenApi.Summary, "Exchange a login code for a session")
      .annotate(
        OpenApi.Description,
        "A wrong code invalidates the pending one. After 10 failures for an e-mail within an hour, every code is refused until the hour has passed. `session: cookie` is for the server's own pages: the session ends after 12 hours without a request, and after 30 days. It is refused over plain HTTP, except on loopback."
      )
  )
  .add(
    HttpApiEndpoint.post("device", "/api/auth/device")
      .setPayload(
        body({ machine: optional(MachineName, "the name of the program's machine, which the person is shown") })
      )
      .addSuccess(response(DeviceLogin, "The codes of the new login"))
      .addError(Forbidden)
      .addError(RateLimited)
      .annotate(Requires, "nothing")
      .annotate(RecentLogin, "never")
      .annotate(BodyLimit, smallBody)
      .annotate(OpenApi.Summary, "Begin a login that a person approves in a browser")
      .annotate(
        OpenApi.Description,
        "For programs on machines without a browser (RFC 8628). The program shows `user_code` and `verification_uri`, and polls `POST /api/auth/token`. FORBIDDEN if the server has no `SERVICE_PUBLIC_URL`. Rate limit: 30 per client address in 15 minutes."
      )
  )
  .add(
    HttpApiEndpoint.post("token", "/api/auth/token")
      .setPayload(tokenRequest)
      .addSuccess(response(SessionToken, "The session's token, for `Authorization: Bearer`"))
      .addError(InvalidCode)
      .addError(AuthorizationPending)
      .addError(SlowDown)
      .addError(Forbidden)
      .annotate(Requires, "nothing")
      .annotate(RecentLogin, "never")
      .annotate(BodyLimit, smallBody)
      .annotate(OpenApi.Summary, "Exchange an approved login for a session token")
      .annotate(
        OpenApi.Description,
        "With `device_code`, a poll: AUTHORIZATION_PENDING until the person has decided, SLOW_DOWN for polls within 5 seconds, FORBIDDEN if the person refused. With `code` and `verifier`, the end of a login by browser and loopback redirect (RFC 8252) with PKCE (RFC 7636). Each code works once, and a wrong verifier invalidates it."
      )
  )
  .add(
    HttpApiEndpoint.post("federate", "/api/auth/federate")
      .setPayload(
        body({
          token: field(
            Schema.Redacted(Schema.String.annotations({ examples: ["eyJ…"] })),
            "a token of the CI system or cluster, for the audience of the account's federation"
          ),
          account: field(AccountReference, "the service account, as ORGANIZATION/ACCOUNT")
        })
      )
      .addSuccess(
        response(
          Schema.Struct({
            token: field(
              Schema.Redacted(Schema.String.annotations({ examples: ["svc_ft_…"] })),
              "the session's token, for `Authorization: Bearer`"
            ),
            expires_at: field(Timestamp, "time when the session ends", "2026-01-31T12:15:00.000Z")
          }),
          "The session's token"
        )
      )
      .addError(Unauthorized)
      .addError(RateLimited)
      .addError(IssuerUnavailable)
      .annotate(Requires, "nothing")
      .annotate(RecentLogin, "never")
      .annotate(BodyLimit, smallBody)
      .annotate(OpenApi.Summary, "Sign a service account in with a token of a federation's issuer")
      .annotate(
        OpenApi.Description,
        "Takes tokens signed with RS256, ES256 or EdDSA. A token may be exchanged again while it is valid. If the signature holds, the refusal names each claim that did not fit, with the token's own value. ISSUER_UNAVAILABLE if the issuer's keys cannot be fetched. Rate limit: 30 failures for each account and client address in 15 minutes."
      )
  )
  .add(
    HttpApiEndpoint.del("logout", "/api/auth/logout")
      .middleware(Authentication)
      // In this order: the toolkit replaces a first success without content by the second, once its description is cut.
      .addSuccess(response(ProviderLogout, "The browser's session has ended, and the provider has a logout of its own"))
      .addSuccess(response(HttpApiSchema.NoContent, "The session has ended"))
      .addError(Forbidden)
      .annotate(Requires, "credential")
      .annotate(RecentLogin, "never")
      .annotate(OpenApi.Summary, "End the current session")
      .annotate(
        OpenApi.Description,
        "Also ends the session of a service account. With an API key, this succeeds without effect. A browser's cookie is cleared; if its user logs in by the provider of single sign-on, the response names the provider's own logout."
      )
  )
  .add(
    HttpApiEndpoint.get("me", "/api/auth/me")
      .middleware(Authentication)
      .addSuccess(response(Identity, "The caller"))
      .annotate(Requires, "credential")
      .annotate(ForDelegations, "any")
      .annotate(OpenApi.Summary, "Show the owner of the credential")
      .annotate(
        OpenApi.Description,
        "Returns a user, or a service account with its organization and, if it is bound to one, its project."
      )
  )
  .add(
    HttpApiEndpoint.get("sessions", "/api/auth/sessions")
      .middleware(Authentication)
      .addSuccess(response(list(Session), "The sessions"))
      .addError(Forbidden)
      .annotate(Requires, "credential")
      .annotate(OpenApi.Summary, "List the caller's own sessions")
      .annotate(OpenApi.Description, "Lists the active sessions of all devices.")
  )
  .add(
    HttpApiEndpoint.del("endSessions", "/api/auth/sessions")
      .setUrlParams(Schema.Struct({ others: optional(OthersParameter) }))
      .middleware(Authentication)
      .addSuccess(response(HttpApiSchema.NoContent, "All sessions have ended"))
      .addError(Forbidden)
      .annotate(Requires, "credential")
      .annotate(RecentLogin, "never")
      .annotate(OpenApi.Summary, "End all of the caller's sessions")
      .annotate(
        OpenApi.Description,
        "Ends the current session too, unless `others=1`. Pending logins end in any case. The current session ends last: repeat a call that got no response."
      )
  )
  .add(
    HttpApiEndpoint.del("endSession", "/api/auth/sessions/:session_id")
      .setPath(Schema.Struct({ session_id: SessionId }))
      .middleware(Authentication)
      .addSuccess(response(HttpApiSchema.NoContent, "The session has ended"))
      .addError(Forbidden)
      .annotate(Requires, "credential")
      .annotate(RecentLogin, "never")
      .annotate(OpenApi.Summary, "End one of the caller's sessions")
      .annotate(OpenApi.Description, "NOT_FOUND for another user's session.")
  )
  .middleware(Admission)
  .annotate(OpenApi.Title, "Authentication")
  .annotate(OpenApi.Description, "Logins, sign-in of machines, and the caller's own sessions") {}
