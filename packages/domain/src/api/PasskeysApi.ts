import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { Authentication } from "../access/Actor.js"
import { Conflict, InvalidCode, LimitExceeded } from "../errors/Errors.js"
import { PasskeyId, SessionId } from "../base/Ids.js"
import {
  AssertionOptions,
  AssertionResponse,
  maxPasskeys,
  Passkey,
  PasskeyName,
  ProvenSession,
  RegistrationOptions,
  RegistrationResponse
} from "../directory/Passkey.js"
import { body, field, list, optional } from "../base/Schemas.js"
import { response } from "./Response.js"
import { Admission, BodyLimit, RecentLogin, recentLogin, requires } from "./Requirement.js"

const passkeys = "/api/auth/passkeys"

const smallBody = 64 * 1024

export class PasskeysApi extends HttpApiGroup.make("passkeys")
  .add(
    HttpApiEndpoint.get("list", passkeys)
      .addSuccess(response(list(Passkey), "The passkeys"))
      .pipe(requires("person"))
      .annotate(OpenApi.Summary, "List the caller's own passkeys")
      .annotate(OpenApi.Description, "Oldest first.")
  )
  .add(
    HttpApiEndpoint.post("options", `${passkeys}/options`)
      .addSuccess(response(RegistrationOptions, "What the browser needs"))
      .pipe(requires("person"), recentLogin("always"))
      .addError(LimitExceeded)
      .annotate(OpenApi.Summary, "Begin to register a passkey")
      .annotate(
        OpenApi.Description,
        `For people. A person has at most ${maxPasskeys}. FORBIDDEN if the server has no \`SERVICE_PUBLIC_URL\`, or one whose host is an IP address.`
      )
  )
  .add(
    HttpApiEndpoint.post("create", passkeys)
      .setPayload(
        body({
          name: field(PasskeyName, "a name, such as that of the device"),
          credential: field(RegistrationResponse, "the new credential, as the browser gives it as JSON")
        })
      )
      .addSuccess(response(Passkey, "The new passkey"), { status: 201 })
      .addError(Conflict)
      .pipe(requires("person"), recentLogin("always"))
      .addError(InvalidCode)
      .addError(LimitExceeded)
      .annotate(BodyLimit, smallBody)
      .annotate(OpenApi.Summary, "Register a passkey")
      .annotate(
        OpenApi.Description,
        "From now on, calls that need a recent login need a proof with a passkey, of each of the person's sessions. The session of the request has it. The person is told by mail."
      )
  )
  .add(
    HttpApiEndpoint.del("delete", `${passkeys}/:passkey_id`)
      .setPath(Schema.Struct({ passkey_id: PasskeyId }))
      .addSuccess(response(HttpApiSchema.NoContent, "The passkey is removed"))
      .pipe(requires("person"), recentLogin("recovery"))
      .annotate(OpenApi.Summary, "Remove one of the caller's passkeys")
      .annotate(
        OpenApi.Description,
        "Needs a proof with a passkey or, for one that was lost, a login from the last 15 minutes: FORBIDDEN with that alone if an organization of the person has `passkey_recovery: none`. The person is told by mail. NOT_FOUND for another person's passkey."
      )
  )
  .add(
    HttpApiEndpoint.post("challenge", `${passkeys}/challenge`)
      .setPayload(
        body({
          session_id: optional(
            SessionId,
            "the caller's session to prove, such as that of a terminal; default: that of the request"
          )
        })
      )
      .addSuccess(response(AssertionOptions, "What the browser needs"))
      .pipe(requires("person"))
      .annotate(RecentLogin, "never")
      .annotate(BodyLimit, smallBody)
      .annotate(OpenApi.Summary, "Begin a proof with a passkey")
      .annotate(
        OpenApi.Description,
        "The challenge is valid for 5 minutes, once, for the session of the request. A session has at most 5. NOT_FOUND for another person's session, and for a person without passkeys."
      )
  )
  .add(
    HttpApiEndpoint.post("verify", `${passkeys}/verify`)
      .setPayload(body({ credential: field(AssertionResponse, "the proof, as the browser gives it as JSON") }))
      .addSuccess(response(ProvenSession, "The session is proven"))
      .pipe(requires("person"))
      .addError(InvalidCode)
      .annotate(RecentLogin, "never")
      .annotate(BodyLimit, smallBody)
      .annotate(OpenApi.Summary, "Prove a session with a passkey")
      .annotate(
        OpenApi.Description,
        "The session that the challenge is for may then make the calls that need a recent login: that of a browser for 15 minutes, that of a program as long as it lasts. INVALID_CODE without the reason if the proof is not accepted, which uses up the challenge."
      )
  )
  .middleware(Admission)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Passkeys")
  .annotate(OpenApi.Description, "A second factor for what needs a recent login") {}
