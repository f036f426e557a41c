import { Duration, Effect, Option, Predicate, Redacted } from "effect"
import type { IncomingHttpHeaders } from "node:http"
import { classifyResponse, mayRetry, retrySchedule } from "./ClassifyResponse.js"
import { ServerUnreachable, UnexpectedResponse, type UnknownApiError } from "./ClientErrors.js"
import { connectionProblem, isTransient } from "./ConnectionProblem.js"
import type { Credential } from "./Credentials.js"
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

export type BundleAnswer = { readonly type: "unchanged" } | { readonly type: "bundle"; readonly bundle: FetchedBundle }

/**
 * Every error of the service is an `UnknownApiError` here: known codes are only in the contract. `ServerUnreachable`
 * means that no response came, or an incomplete one.
 */
export type BundleFailure = ServerUnreachable | UnexpectedResponse | UnknownApiError

interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

const seconds = 30

/** Avoids an import, which reads every export of the module and so loads all of `fetch` on newer versions of Node. */
const getOf = (secure: boolean) => process.getBuiltinModule(secure ? "node:https" : "node:http").get

/** Sends a request through Node's global agent, which obeys the proxy settings that `fetch` obeys (NODE_USE_ENV_PROXY). */
const send = Effect.fnUntraced(function* (url: URL, base: string, headers: Readonly<Record<string, string>>) {
  const get = getOf(url.protocol === "https:")
  let answered = false
  const unreachable = (why: string, transient: boolean) =>
    new ServerUnreachable({ url: base, reason: why, transient, answered })
  return yield* Effect.async<Answer, ServerUnreachable>((resume) => {
    const fail = (cause: unknown) => resume(Effect.fail(unreachable(connectionProblem(cause), isTransient(cause))))
    const request = get(url, { headers: { ...headers, connection: "close" } }, (response) => {
      answered = true
      const chunks: Array<Buffer> = []
      response.on("data", (chunk: Buffer) => chunks.push(chunk))
      response.once("error", fail)
      response.once("end", () => {
        const body = Buffer.concat(chunks).toString("utf8")
        resume(Effect.succeed({ status: response.statusCode ?? 0, headers: response.headers, body }))
      })
    })
    request.on("error", fail)
    return Effect.sync(() => request.destroy())
  }).pipe(
    Effect.timeoutFail({
      duration: Duration.seconds(seconds),
      onTimeout: () => unreachable(`no answer within ${seconds} s`, false)
    })
  )
})

const parse = Option.liftThrowable((text: string): unknown => JSON.parse(text))

const decodeSecret = (item: unknown): Option.Option<BundleSecret> =>
  Predicate.hasProperty(item, "key") &&
  typeof item.key === "string" &&
  Predicate.hasProperty(item, "value") &&
  typeof item.value === "string"
    ? Option.some({ key: item.key, value: Redacted.make(item.value) })
    : Option.none()

const decodeSecrets = (body: string): Option.Option<ReadonlyArray<BundleSecret>> =>
  Option.flatMap(parse(body), (found) =>
    Predicate.hasProperty(found, "data") && Array.isArray(found.data)
      ? Option.all(found.data.map(decodeSecret))
      : Option.none()
  )

const authorization = ({ secret, type }: Credential): Readonly<Record<string, string>> =>
  type === "session" ? { authorization: `Bearer ${Redacted.value(secret)}` } : { "x-api-key": Redacted.value(secret) }

const once = Effect.fnUntraced(function* (request: BundleRequest, etag: string | undefined) {
  const { credential, keys, path, server, version } = request
  const { base } = server
  const query = keys.length === 0 ? "" : `?keys=${keys.join(",")}`
  const url = new URL(
    `${base}/api/orgs/${path.org_name}/projects/${path.project_name}/envs/${path.env_name}/bundle${query}`
  )
  const { body, headers, status } = yield* send(url, base, {
    accept: "application/json",
    "user-agent": `coffer/${version}`,
    "x-coffer-client": "cli",
    ...authorization(credential),
    ...(etag === undefined ? {} : { "if-none-match": etag })
  })
  if (status === 304 && etag !== undefined) return { type: "unchanged" } satisfies BundleAnswer
  if (status !== 200) return yield* classifyResponse({ url: base, status, location: headers.location, body })
  return yield* Option.match(decodeSecrets(body), {
    onNone: () => Effect.fail(new UnexpectedResponse({ url: base, status })),
    onSome: (secrets) => {
      const answer: BundleAnswer = { type: "bundle", bundle: { etag: headers.etag, secrets } }
      return Effect.succeed(answer)
    }
  })
})

/** Reads the bundle without retries. With an ETag, returns "unchanged" if no secret has changed since. */
export const pollBundle = (
  request: BundleRequest,
  etag: string | undefined
): Effect.Effect<BundleAnswer, BundleFailure> => once(request, etag)

/** Reads the bundle. Retries at most twice after transient errors. */
export const readBundle = (request: BundleRequest): Effect.Effect<FetchedBundle, BundleFailure> =>
  once(request, undefined).pipe(
    Effect.flatMap((answer) =>
      answer.type === "bundle" ? Effect.succeed(answer.bundle) : Effect.dieMessage("unchanged, without an ETag")
    ),
    Effect.retry({ times: 2, schedule: retrySchedule, while: mayRetry })
  )
