import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { Authentication } from "../access/Actor.js"
import { Conflict, IssuerUnavailable, LimitExceeded, RateLimited } from "../errors/Errors.js"
import {
  Conditions,
  Expiry,
  Federation,
  FederationTrial,
  Issuer,
  MaxAge,
  PublicKeys,
  Ttl
} from "../directory/Federation.js"
import { FederationId, ServiceAccountId } from "../base/Ids.js"
import { FederationName } from "../base/Names.js"
import { body, field, list, optional } from "../base/Schemas.js"
import { response } from "./Response.js"
import { orgPath, paths } from "./Paths.js"
import { Admission, BodyLimit, RecentLogin, recentLogin, requires } from "./Requirement.js"

const accountPath = { ...orgPath, sa_id: ServiceAccountId }
const federations = `${paths.org}/service-accounts/:sa_id/federations` as const

export class FederationsApi extends HttpApiGroup.make("federations")
  .add(
    HttpApiEndpoint.post("create", federations)
      .setPath(Schema.Struct(accountPath))
      .setPayload(
        body({
          name: FederationName,
          issuer: field(Issuer, "the issuer of the tokens, exactly as in their claim `iss`"),
          jwks: optional(
            PublicKeys,
            "the issuer's public keys as a JWK Set, for an issuer that the server cannot reach"
          ),
          conditions: field(
            Conditions,
            "the claims that a token must have, by JSON Pointer, each with the text that it must equal"
          ),
          max_age: optional(MaxAge),
          ttl: optional(Ttl),
          expires_at: optional(Expiry)
        })
      )
      .addSuccess(response(Federation, "The new federation"), { status: 201 })
      .pipe(requires("federation.create"), recentLogin("always"))
      .addError(Conflict)
      .addError(LimitExceeded)
      .annotate(BodyLimit, 256 * 1024)
      .annotate(OpenApi.Summary, "Let a service account sign in with an issuer's tokens")
      .annotate(
        OpenApi.Description,
        "The issuer is one of the server's list, or `jwks` has its public keys. Needs the server's setting SERVICE_PUBLIC_URL, from which the audience is made."
      )
  )
  .add(
    HttpApiEndpoint.get("list", federations)
      .setPath(Schema.Struct(accountPath))
      .addSuccess(response(list(Federation), "The federations"))
      .pipe(requires("federation.list"))
      .annotate(OpenApi.Summary, "List the federations of a service account")
      .annotate(OpenApi.Description, "Sorted by name.")
  )
  .add(
    HttpApiEndpoint.post("try", `${federations}/try`)
      .setPath(Schema.Struct(accountPath))
      .setPayload(
        body({
          token: field(
            Schema.Redacted(Schema.String.annotations({ examples: ["eyJ…"] })),
            "a token of the CI system or cluster"
          )
        })
      )
      .addSuccess(response(FederationTrial, "The result of each federation"))
      .pipe(requires("federation.create"))
      .addError(RateLimited)
      .addError(IssuerUnavailable)
      .annotate(RecentLogin, "never")
      .annotate(BodyLimit, 8 * 1024)
      .annotate(OpenApi.Summary, "Try a token against the federations of a service account")
      .annotate(
        OpenApi.Description,
        "Starts no session and stores nothing of the token. Names each claim that does not fit, with the token's value and the expected one. ISSUER_UNAVAILABLE if the issuer's keys cannot be fetched. Rate limit: 30 for each person in 15 minutes."
      )
  )
  .add(
    HttpApiEndpoint.del("revoke", `${federations}/:federation_id`)
      .setPath(Schema.Struct({ ...accountPath, federation_id: FederationId }))
      .addSuccess(response(HttpApiSchema.NoContent, "The federation is revoked"))
      .pipe(requires("federation.revoke"))
      .annotate(RecentLogin, "never")
      .annotate(OpenApi.Summary, "Revoke a federation and its sessions")
      .annotate(OpenApi.Description, "Takes effect for every request that starts after the response.")
  )
  .middleware(Admission)
  .middleware(Authentication)
  .annotate(OpenApi.Title, "Federations")
  .annotate(
    OpenApi.Description,
    "Sign-in of service accounts with tokens of CI systems and clusters (OpenID Connect), so that no key is stored"
  ) {}
