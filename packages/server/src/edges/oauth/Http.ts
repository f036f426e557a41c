import { CodeVerifier } from "@coffer/domain/directory/ClientLogin"
import { isApiError, NotFound, RateLimited } from "@coffer/domain/errors/Errors"
import * as Headers from "@effect/platform/Headers"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { ServerConfig } from "../../base/Config.js"
import { Consents } from "../../directory/consents/Consents.js"
import { Registrations } from "../../directory/consents/Registrations.js"
import { errorResponse } from "../../http/Failure.js"
import { type Form, readForm, readSmallJson } from "../../http/Form.js"
import {
  isResource,
  issuerOf,
  oauthPaths,
  resourceMetadataPath,
  resourceOf,
  serverMetadataPath
} from "../../http/mcp/Issuer.js"
import { NodeRequest } from "../../http/NodeRequest.js"
import { resourceMetadata, serverMetadata } from "./Metadata.js"

const off = new NotFound({
  message: "this server asks nobody for consent: it needs SERVICE_PUBLIC_URL, SERVICE_MCP and the console"
})

/** No cache keeps what holds a token, or how to get one (RFC 6749, section 5.1). */
const uncached = { "cache-control": "no-store", pragma: "no-cache" }

const json = (body: unknown, status = 200, headers: Readonly<Record<string, string>> = uncached) =>
  HttpServerResponse.unsafeJson(body, { status, headers: Headers.fromInput(headers) })

/** An error of RFC 6749, section 5.2. */
const refused = (error: string, error_description: string, status = 400) => json({ error, error_description }, status)

/** Answers a request that failed: beyond a limit in OAuth's form, else as every call. */
const answered = <E, R>(made: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>) =>
  Effect.catchAllCause(made, (cause) =>
    Effect.flatMap(NodeRequest.current, ({ info }) => {
      if (Cause.isInterruptedOnly(cause)) return Effect.interrupt
      const error = Cause.squash(cause)
      return error instanceof RateLimited
        ? Effect.succeed(
            HttpServerResponse.setHeader(
              refused("temporarily_unavailable", error.message, error.status),
              "retry-after",
              String(error.retryAfter ?? 1)
            )
          )
        : errorResponse(cause, info.id)
    })
  )

const decodeVerifier = Schema.decodeUnknownOption(CodeVerifier)

/** The endpoints for the hosts of agents: metadata, registration, tokens. People consent on a page of the console. */
export const OauthLive = HttpApiBuilder.Router.use((router) =>
  Effect.gen(function* () {
    const config = yield* ServerConfig
    const consents = yield* Consents
    const registrations = yield* Registrations

    const issuer = Effect.flatMap(NodeRequest.current, ({ headers }) => {
      const found = issuerOf(config, headers)
      return found === null ? off : Effect.succeed(found)
    })

    /** Metadata is public, and the same for everybody. */
    const metadata = (of: (issuer: string) => unknown) =>
      Effect.map(issuer, (found) => json(of(found), 200, { "cache-control": "public, max-age=300" }))

    /** A malformed body is the program's error, in OAuth's form. */
    const submitted = Effect.flatMap(NodeRequest.current, readForm).pipe(
      Effect.catchIf(
        (error) => isApiError(error) && error.status < 500,
        () => Effect.succeed<Form>(new Map())
      )
    )

    const register = Effect.gen(function* () {
      yield* issuer
      yield* consents.count("register")
      const metadata = yield* Effect.flatMap(NodeRequest.current, readSmallJson).pipe(
        Effect.catchIf(
          (error) => isApiError(error) && error.status < 500,
          () => Effect.succeed(null)
        )
      )
      const made = registrations.register(metadata)
      if ("error" in made) return json(made, 400)
      return json(
        {
          client_id: made.id,
          client_id_issued_at: Math.floor((yield* Clock.currentTimeMillis) / 1_000),
          client_name: made.name,
          redirect_uris: made.redirectUris,
          grant_types: ["authorization_code"],
          response_types: ["code"],
          token_endpoint_auth_method: "none"
        },
        201
      )
    })

    const token = Effect.gen(function* () {
      const own = yield* issuer
      yield* consents.count("token")
      const form = yield* submitted
      const [code, clientId, redirectUri] = [form.get("code"), form.get("client_id"), form.get("redirect_uri")]
      const verifier = decodeVerifier(form.get("code_verifier"))
      if (!form.has("grant_type")) return refused("invalid_request", "send a form with grant_type, each field once")
      if (form.get("grant_type") !== "authorization_code") {
        return refused("unsupported_grant_type", "grant_type: must be authorization_code; a token is not renewed")
      }
      if (code === undefined || clientId === undefined || Option.isNone(verifier)) {
        return refused("invalid_request", "code, client_id and code_verifier are required")
      }
      if (!isResource(own, form.get("resource") ?? resourceOf(own))) {
        return refused("invalid_target", "resource: must be the address of this server's /mcp")
      }
      const issued = yield* consents.exchange({ code, clientId, redirectUri, verifier: verifier.value })
      if (issued === null) return refused("invalid_grant", "the code is wrong, used or expired, or another program's")
      return json({
        access_token: Redacted.value(issued.token),
        token_type: "Bearer",
        expires_in: issued.seconds,
        scope: issued.scope
      })
    })

    const revoke = Effect.gen(function* () {
      yield* issuer
      yield* consents.count("revoke")
      const form = yield* submitted
      const [token, clientId] = [form.get("token"), form.get("client_id")]
      if (token === undefined || clientId === undefined) {
        return refused("invalid_request", "token and client_id are required")
      }
      yield* consents.revoke(token, clientId)
      return HttpServerResponse.empty({ status: 200, headers: Headers.fromInput(uncached) })
    })

    yield* router.get(resourceMetadataPath, answered(metadata(resourceMetadata)))
    yield* router.get(`${resourceMetadataPath}/mcp`, answered(metadata(resourceMetadata)))
    yield* router.get(serverMetadataPath, answered(metadata(serverMetadata)))
    yield* router.post(oauthPaths.register, answered(register))
    yield* router.post(oauthPaths.token, answered(token))
    yield* router.post(oauthPaths.revoke, answered(revoke))
  })
).pipe(Layer.provide([Consents.Default, Registrations.Default]))
