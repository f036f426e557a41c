import { Data, Effect, Option, Redacted } from "effect"
import { readFileSync } from "node:fs"
import { codeOf } from "./FileError.js"
import type { PrivateFileError } from "./PrivateFile.js"
import type { ServerUrl } from "./ServerUrl.js"
import { readSession } from "./SessionFile.js"
import { BadSetting, variable, Variables } from "./Settings.js"
import { isTrusted } from "./TrustedOrigins.js"

/** What authenticates a client: a service account's key, or a user's session token. */
export type Credential = ApiKey | SessionToken

export interface ApiKey {
  readonly type: "api_key"
  readonly secret: Redacted.Redacted
}

export interface SessionToken {
  readonly type: "session"
  readonly secret: Redacted.Redacted
}

export class NotAuthenticated extends Data.TaggedError("NotAuthenticated")<{ readonly message: string }> {}

/** This server comes only from `service.yml` and is not trusted yet, so no API key is sent. */
export class UntrustedServer extends Data.TaggedError("UntrustedServer")<{
  readonly origin: string
  readonly message: string
}> {}

export type CredentialError = BadSetting | NotAuthenticated | PrivateFileError | UntrustedServer

/** Reads the API key from `SERVICE_API_KEY`, or from the file that `SERVICE_API_KEY_FILE` names (one trailing newline is removed). */
const configuredKey = Effect.gen(function* () {
  const env = yield* Variables
  const key = variable(env, "SERVICE_API_KEY")
  const file = variable(env, "SERVICE_API_KEY_FILE")
  if (key !== undefined && file !== undefined) {
    return yield* new BadSetting({
      message: "SERVICE_API_KEY and SERVICE_API_KEY_FILE are both set: unset one of them"
    })
  }
  if (key === undefined && file === undefined) return Option.none<ApiKey>()
  const name = key === undefined ? "SERVICE_API_KEY_FILE" : "SERVICE_API_KEY"
  const text =
    key ??
    (yield* Effect.try({
      try: () => readFileSync(file ?? "", "utf8").replace(/\r?\n$/, ""),
      catch: (cause) => new BadSetting({ message: `SERVICE_API_KEY_FILE: ${file} cannot be read (${codeOf(cause)})` })
    }))
  if (!/^svc_sa_[\x21-\x7e]+$/.test(text)) {
    return yield* new BadSetting({ message: `${name} does not hold an API key: API keys start with svc_sa_` })
  }
  return Option.some<ApiKey>({ type: "api_key", secret: Redacted.make(text) })
})

/** Returns the session for this server, even if an API key is configured. */
export const sessionFor = (server: ServerUrl): Effect.Effect<Option.Option<SessionToken>, PrivateFileError> =>
  Effect.map(
    readSession(server.origin),
    Option.map((secret) => ({ type: "session", secret }) as const)
  )

/** Whether an API key is configured, which takes precedence over sessions. */
export const hasApiKey = Effect.map(configuredKey, Option.isSome)

/**
 * Returns the credential for this server: the API key, or else the session.
 *
 * A cloned repository may contain a hostile `service.yml`, so a server from that file must be trusted before it gets a key.
 */
export const credentialFor = Effect.fnUntraced(function* (server: ServerUrl) {
  const { origin, source } = server
  const key = yield* configuredKey
  if (Option.isSome(key)) {
    if (source !== "file" || server.local || (yield* isTrusted(origin))) return key.value
    return yield* new UntrustedServer({
      origin,
      message: `${origin} comes from service.yml and is not trusted, so your API key is not sent there: set SERVICE_SERVER_URL=${server.base}, or run: coffer trust ${origin}`
    })
  }
  const session = yield* sessionFor(server)
  if (Option.isSome(session)) return session.value
  return yield* new NotAuthenticated({
    message: `there is no session at ${origin} and SERVICE_API_KEY is not set: run coffer login, or set SERVICE_API_KEY`
  })
})
