import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { readFileSync } from "node:fs"
import type { SignInError } from "./ClientErrors.js"
import type { ApiKey, SessionToken } from "./Credential.js"
import type { FederatedSession } from "./FederatedSession.js"
import { readProblem } from "./FileError.js"
import type { PrivateFileError } from "./PrivateFile.js"
import type { ServerUrl } from "./ServerUrl.js"
import { readSession } from "./SessionFile.js"
import { BadSetting, variable, Variables } from "./Variables.js"
import { refuseUntrusted, type UntrustedServer } from "./TrustedOrigins.js"

export class NotAuthenticated extends Data.TaggedError("NotAuthenticated")<{ readonly message: string }> {}

export type CredentialError = NotAuthenticated | PrivateFileError | SignInError | UntrustedServer

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
      catch: (cause) =>
        new BadSetting({ message: `SERVICE_API_KEY_FILE: ${file} cannot be read: ${readProblem(cause)}` })
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

/** The variable that is set to a credential or to the account that signs in. It takes precedence over sessions. */
export const configuredBy = Effect.gen(function* () {
  const env = yield* Variables
  const names = ["SERVICE_API_KEY", "SERVICE_API_KEY_FILE", "SERVICE_ACCOUNT"] as const
  return names.find((name) => variable(env, name) !== undefined)
})

/** Returns the credential that the variables name: the API key, or else the account that signs in. */
export const machineCredentialFor = Effect.fnUntraced(function* (
  server: ServerUrl
): Effect.fn.Return<Option.Option<ApiKey | FederatedSession>, PrivateFileError | SignInError | UntrustedServer> {
  const key = yield* configuredKey
  if (Option.isSome(key)) {
    yield* refuseUntrusted(server, "your API key")
    return key
  }
  const account = variable(yield* Variables, "SERVICE_ACCOUNT")
  if (account === undefined) return Option.none()
  yield* refuseUntrusted(server, `a token for ${account}`)
  // Loaded lazily: few programs sign in this way.
  const { signIn } = yield* Effect.promise(() => import("./SignIn.js"))
  return Option.some(yield* signIn(server, account))
})
