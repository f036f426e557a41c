import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { existsSync, readFileSync } from "node:fs"
import { SignInFailed } from "./ClientErrors.js"
import { reasonOf } from "./ConnectionProblem.js"
import { readProblem } from "./FileError.js"
import { makeSend } from "./NodeRequest.js"
import { parseJson } from "./ParseJson.js"
import { textOf } from "./Send.js"
import { parseServerUrl } from "./ServerUrl.js"
import { BadSetting, variable, Variables } from "./Variables.js"

/** Where the lines for Kubernetes mount the token. */
export class PodTokenPath extends Context.Reference<PodTokenPath>()("@coffer/client/PodTokenPath", {
  defaultValue: () => "/var/run/secrets/coffer/token"
}) {}

const seconds = 30

/** Where the account is set, for messages, and the token that replaces those of the platform. */
export interface AccountSource {
  readonly setting: string
  readonly token?: Redacted.Redacted | undefined
}

type Env = Readonly<Record<string, string | undefined>>

/** The request to the CI system failed before it answered. Another one may succeed. */
class NoResponse extends Data.TaggedError("NoResponse")<{ readonly reason: string }> {}

/** Fails if a text has not the form of a signed token. The message does not repeat the text. */
const tokenIn = (text: unknown, where: string): Effect.Effect<Redacted.Redacted, SignInFailed> =>
  typeof text === "string" && /^[\w-]+\.[\w-]+\.[\w-]+$/.test(text)
    ? Effect.succeed(Redacted.make(text))
    : Effect.fail(
        new SignInFailed({
          reason: `${where} is not a signed token (JWT)`,
          next: "see docs/machines.md for the lines that your CI system needs"
        })
      )

const fromFile = (path: string, where: string) =>
  Effect.try({
    try: () => readFileSync(path, "utf8").trim(),
    catch: (cause) =>
      new SignInFailed({
        reason: `${where}: ${path} cannot be read: ${readProblem(cause)}`,
        next: "see whether the token is mounted there, and readable for this user"
      })
  }).pipe(Effect.flatMap((text) => tokenIn(text, `the content of ${path}`)))

const requestOnce = Effect.fnUntraced(function* (
  url: URL,
  bearer: string
): Effect.fn.Return<Redacted.Redacted, BadSetting | NoResponse | SignInFailed, Scope.Scope> {
  const { origin } = url
  const server = yield* Effect.mapError(
    parseServerUrl(origin, "variable"),
    ({ message }) => new BadSetting({ message: `ACTIONS_ID_TOKEN_REQUEST_URL ${message}` })
  )
  const send = yield* makeSend(server)
  const headers = { accept: "application/json", authorization: `Bearer ${bearer}` }
  const response = yield* send({ url, method: "GET", headers }).pipe(
    Effect.mapError((failed) => new NoResponse({ reason: `${origin} cannot be reached: ${reasonOf(failed)}` })),
    Effect.timeoutFail({
      duration: `${seconds} seconds`,
      onTimeout: () => new NoResponse({ reason: `${origin} did not respond within ${seconds} s` })
    })
  )
  const { status } = response
  if (status >= 500) return yield* new NoResponse({ reason: `${origin} answered ${status}` })
  if (status !== 200) {
    return yield* new SignInFailed({
      reason: `the CI system at ${origin} gives no identity token (status ${status})`,
      next: "see whether the job has the permission id-token: write"
    })
  }
  const found = Option.getOrUndefined(parseJson(textOf(response)))
  const value = Predicate.hasProperty(found, "value") ? found.value : undefined
  return yield* tokenIn(value, `the answer of ${origin}`)
}, Effect.scoped)

/** Asks GitHub Actions, or Gitea or Forgejo in the same way, for a token with this audience. */
const fromActions = (address: string, bearer: string | undefined, audience: string) =>
  Effect.gen(function* () {
    if (!URL.canParse(address)) return yield* new BadSetting({ message: "ACTIONS_ID_TOKEN_REQUEST_URL is not a URL" })
    if (bearer === undefined || !/^[\x21-\x7e]+$/.test(bearer)) {
      return yield* new SignInFailed({
        reason: "ACTIONS_ID_TOKEN_REQUEST_URL is set, but ACTIONS_ID_TOKEN_REQUEST_TOKEN is not or cannot be one",
        next: "give the job the permission id-token: write"
      })
    }
    const url = new URL(address)
    url.searchParams.set("audience", audience)
    return yield* requestOnce(url, bearer).pipe(
      Effect.retry({ times: 2, while: ({ _tag }) => _tag === "NoResponse" }),
      Effect.catchTag(
        "NoResponse",
        ({ reason }) => new SignInFailed({ reason: `no identity token: ${reason}`, next: "run the job again" })
      )
    )
  })

/** The next step, for the system that the variables show. */
const missing = (env: Env, podToken: string, setting: string): string => {
  if (env["GITHUB_ACTIONS"] === "true" || env["GITEA_ACTIONS"] === "true" || env["FORGEJO_ACTIONS"] === "true") {
    return "give the job the permission id-token: write (Forgejo: enable-openid-connect: true)"
  }
  if (env["GITLAB_CI"] !== undefined) return "give the job SERVICE_ID_TOKEN under id_tokens, with aud"
  if (env["KUBERNETES_SERVICE_HOST"] !== undefined) return `mount a projected token at ${podToken}`
  return `set SERVICE_ID_TOKEN or SERVICE_ID_TOKEN_FILE, or unset ${setting} to use another credential`
}

/** Reads a token for this audience from the CI system or cluster that the program runs in. */
export const identityToken = Effect.fnUntraced(function* (
  account: string,
  audience: string,
  { setting, token: given }: AccountSource
): Effect.fn.Return<Redacted.Redacted, BadSetting | SignInFailed> {
  if (given !== undefined) return yield* tokenIn(Redacted.value(given), "credential.token")
  const env = yield* Variables
  const token = variable(env, "SERVICE_ID_TOKEN")
  const file = variable(env, "SERVICE_ID_TOKEN_FILE")
  if (token !== undefined && file !== undefined) {
    return yield* new BadSetting({
      message: "SERVICE_ID_TOKEN and SERVICE_ID_TOKEN_FILE are both set: unset one of them"
    })
  }
  if (token !== undefined) return yield* tokenIn(token, "SERVICE_ID_TOKEN")
  if (file !== undefined) return yield* fromFile(file, "SERVICE_ID_TOKEN_FILE")
  const address = variable(env, "ACTIONS_ID_TOKEN_REQUEST_URL")
  if (address !== undefined) {
    return yield* fromActions(address, variable(env, "ACTIONS_ID_TOKEN_REQUEST_TOKEN"), audience)
  }
  const podToken = yield* PodTokenPath
  if (existsSync(podToken)) return yield* fromFile(podToken, "the pod's token")
  return yield* new SignInFailed({
    reason: `${setting} is ${account}, but there is no identity token to sign in with`,
    next: missing(env, podToken, setting)
  })
})
