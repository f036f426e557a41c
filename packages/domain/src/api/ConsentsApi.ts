import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { Authentication } from "../access/Actor.js"
import { AuthorizationQuery, AuthorizationRequest, Consent } from "../directory/Consent.js"
import {
  DelegablePermission,
  DelegatedEnvironments,
  DelegatedKeys,
  DelegationSeconds,
  maxDelegations
} from "../directory/Delegation.js"
import { LimitExceeded, RateLimited } from "../errors/Errors.js"
import { EnvName, OrgName, ProjectName, SecretKey } from "../base/Names.js"
import { body, field, optional } from "../base/Schemas.js"
import { response } from "./Response.js"
import { Admission, RecentLogin, recentLogin, requires } from "./Requirement.js"

const consents = "/api/auth/consents"

const request = field(AuthorizationQuery, "the query of the address that the program opened")

export class ConsentsApi extends HttpApiGroup.make("consents")
  .add(
    HttpApiEndpoint.post("review", `${consents}/review`)
      .setPayload(body({ request }))
      .addSuccess(response(AuthorizationRequest, "The request of the program"))
      .addError(RateLimited)
      .pipe(requires("person"))
      .annotate(RecentLogin, "never")
      .annotate(OpenApi.Summary, "Read the request of a program for a part of one's rights")
      .annotate(
        OpenApi.Description,
        "For people. Changes nothing. VALIDATION_ERROR if the program or the address for the answer is not known: the browser must then be led nowhere."
      )
  )
  .add(
    HttpApiEndpoint.post("create", consents)
      .setPayload(
        body({
          request,
          org: field(OrgName, "the organization's name"),
          project: field(ProjectName, "the project's name"),
          env: field(EnvName, "the environment's name", EnvName.make("dev")),
          also: DelegatedEnvironments,
          permission: field(DelegablePermission, "the highest permission that it gives: at most what was asked for"),
          keys: optional(DelegatedKeys, "the only keys that it may name; default: all keys", [
            SecretKey.make("DATABASE_URL")
          ]),
          reveal: field(Schema.Boolean, "whether the program may see values: only if it asked for them", false),
          expires_in: DelegationSeconds
        })
      )
      .addSuccess(response(Consent, "The way back to the program"), { status: 201 })
      .addError(RateLimited)
      .pipe(requires("person"), recentLogin("always"))
      .addError(LimitExceeded)
      .annotate(OpenApi.Summary, "Grant a program a part of one's rights")
      .annotate(
        OpenApi.Description,
        `For people, on the page that a program opens (OAuth 2.1). Makes a delegation for the program, whose token the program gets for the code. A person has at most ${maxDelegations} at a time.`
      )
  )
  .middleware(Admission)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Consents")
  .annotate(OpenApi.Description, "Programs that ask people for a part of their rights") {}
