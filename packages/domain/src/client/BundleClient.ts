import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import { classifyResponse, mayRetry, retrySchedule } from "./ClassifyResponse.js"
import { type ServerUnreachable, UnexpectedResponse, UnknownApiError } from "./ClientErrors.js"
import { noResponseWithin, serverUnreachable } from "./ConnectionProblem.js"
import type { Credential } from "./Credentials.js"
import type { SignInError } from "./FederatedSession.js"
import { makeSend } from "./NodeRequest.js"
import { parseJson } from "./ParseJson.js"
import { requestHeaders } from "./RequestHeaders.js"
import type { ServerUrl } from "./ServerUrl.js"

/**
 * Reads the secrets of an environment for `coffer run`, which must start fast: over `node:http`, without the contract and
 * its schemas. Loading `fetch` alone takes three times as long as starting Node.
 */
export interface BundleRequest {
  readonly server: ServerUrl
  readonly credential: Credential
  readonly version: string
  readonly path: { readonly org_name: string; readonly project_name: string; readonly env_name: string }
  /** The keys to read; empty means all. */
  readonly keys: ReadonlyArray<string>
}

export interface BundleSecret {
  readonly key: string
  readonly value: Redacted.Redacted
}

export interface FetchedBundle {
  /** Pass it to the next `pollBundle`, which then returns "unchanged" until a secret changes. */
  readonly etag: string | undefined
  readonly secrets: ReadonlyArray<BundleSecret>
}

export type PollResult = { readonly type: "unchanged" } | { readonly type: "bundle"; readonly bundle: FetchedBundle }

/**
 * Every error of the service is an `UnknownApiError` here: known codes are only in the contract. `ServerUnreachable`
 * means that no response came, or an incomplete one.
 */
export type BundleFailure = ServerUnreachable | SignInError | UnexpectedResponse | UnknownApiError

const seconds = 30

const decodeSecret = (item: unknown): Option.Option<BundleSecret> =>
  Predicate.hasProperty(item, "key") &&
  typeof item.key === "string" &&
  Predicate.hasProperty(item, "value") &&
  typeof item.value === "string"
    ? Option.some({ key: item.key, value: Redacted.make(item.value) })
    : Option.none()

const decodeSecrets = (found: unknown): Option.Option<ReadonlyArray<BundleSecret>> =>
  Predicate.hasProperty(found, "data") && Array.isArray(found.data)
    ? Option.all(found.data.map(decodeSecret))
    : Option.none()

/** The sentences about keys whose references lead to no value. */
const decodeErrors = (found: unknown): ReadonlyArray<string> =>
  Predicate.hasProperty(found, "errors") && Array.isArray(found.errors)
    ? found.errors.flatMap((item: unknown) =>
        Predicate.hasProperty(item, "message") && typeof item.message === "string" ? [item.message] : []
      )
    : []

const once = Effect.fnUntraced(function* (request: BundleRequest, etag: string | undefined) {
  const { credential, keys, path, server, version } = request
  const { base } = server
  if (credential.type === "federated") yield* credential.refresh
  const url = new URL(`${base}/api/orgs/${path.org_name}/projects/${path.project_name}/envs/${path.env_name}/bundle`)
  if (keys.length > 0) url.searchParams.set("keys", keys.join(","))
  const send = yield* makeSend(server)
  const response = yield* send({
    url,
    method: "GET",
    headers: {
      ...requestHeaders(credential, version),
      ...(etag === undefined ? {} : { "if-none-match": etag })
    }
  }).pipe(
    Effect.mapError((failed) => serverUnreachable(base, failed)),
    Effect.timeoutFail({ duration: Duration.seconds(seconds), onTimeout: () => noResponseWithin(base, seconds) })
  )
  const { headers, status } = response
  if (status === 401 && credential.type === "federated") credential.expire()
  const body = response.body.toString("utf8")
  if (status === 304 && etag !== undefined) return { type: "unchanged" } satisfies PollResult
  if (status !== 200) return yield* classifyResponse({ url: base, status, location: headers.location, body })
  const found = Option.getOrUndefined(parseJson(body))
  const failed = decodeErrors(found)
  if (failed.length > 0) {
    return yield* new UnknownApiError({ status, code: "REFERENCE_REFUSED", message: failed.join("; ") })
  }
  return yield* Option.match(decodeSecrets(found), {
    onNone: () => Effect.fail(new UnexpectedResponse({ url: base, status })),
    onSome: (secrets) => {
      const read: PollResult = { type: "bundle", bundle: { etag: headers.etag, secrets } }
      return Effect.succeed(read)
    }
  })
}, Effect.scoped)

/** Reads the bundle without retries. With an ETag, returns "unchanged" if no secret has changed since. */
export const pollBundle = (
  request: BundleRequest,
  etag: string | undefined
): Effect.Effect<PollResult, BundleFailure> => once(request, etag)

const isTransient = (failure: BundleFailure): boolean =>
  failure._tag !== "BadSetting" && failure._tag !== "SignInFailed" && mayRetry(failure)

/** Reads the bundle. Retries at most twice after transient errors. */
export const readBundle = (request: BundleRequest): Effect.Effect<FetchedBundle, BundleFailure> =>
  once(request, undefined).pipe(
    Effect.flatMap((result) =>
      result.type === "bundle" ? Effect.succeed(result.bundle) : Effect.dieMessage("unchanged, without an ETag")
    ),
    Effect.retry({ times: 2, schedule: retrySchedule, while: isTransient })
  )
