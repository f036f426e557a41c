import type { Credential } from "./internal/Credential.js"
import { configuredBy, machineCredentialFor, sessionFor } from "./internal/Credentials.js"
import type { SignInError } from "./internal/ClientErrors.js"
import { parseServerUrl, type ServerUrl } from "./internal/ServerUrl.js"
import { BadSetting } from "./internal/Variables.js"
import { envNameForm, orgNameForm, projectNameForm, secretKeyForm } from "@coffer/domain/base/NameForms"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { CredentialOption, Options } from "./Options.js"
import type { Connection } from "./Read.js"

/** The options as the client uses them. */
export interface Resolved {
  readonly connection: Connection
  readonly every: Duration.Duration
  readonly offline: { readonly folder: string; readonly maxAge: number } | undefined
}

const bad = (message: string) => new BadSetting({ message })

const parsePlace = Effect.fnUntraced(function* (place: string) {
  const [org_name = "", project_name = "", env_name = "", ...rest] = place.split("/")
  const form = "place must be ORGANIZATION/PROJECT/ENVIRONMENT, such as acme/webshop/prod"
  if (place.split("/").length < 3 || rest.length > 0) return yield* bad(form)
  for (const [name, rule] of [
    [org_name, orgNameForm],
    [project_name, projectNameForm],
    [env_name, envNameForm]
  ] as const) {
    if (!rule.is(name)) return yield* bad(`${form}: ${rule.message}`)
  }
  return { org_name, project_name, env_name }
})

/** The longest list of keys in a request's address, in characters: servers and proxies take 8 KiB at least. */
const maxKeysLength = 7_000

const parseKeys = Effect.fnUntraced(function* (keys: ReadonlyArray<string>) {
  const wrong = keys.find((key) => !secretKeyForm.is(key))
  if (wrong !== undefined) return yield* bad(`keys: ${JSON.stringify(wrong)}: ${secretKeyForm.message}`)
  if (keys.join(",").length > maxKeysLength) return yield* bad("keys names too many keys: omit it to read all")
  return keys
})

const namePattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,31}(?: [A-Za-z0-9._+-]{1,32})?$/

const parseName = (name: string | undefined) => {
  if (name === undefined) return Effect.succeed("app")
  return namePattern.test(name)
    ? Effect.succeed(`app/${name}`)
    : Effect.fail(bad("name must be a name and optionally a version, such as shop 1.4.0"))
}

const parseDuration = (option: string, input: Duration.DurationInput) =>
  Option.match(
    Option.filter(
      Duration.decodeUnknown(input),
      (duration) => Duration.isFinite(duration) && Duration.greaterThan(duration, Duration.zero)
    ),
    { onNone: () => Effect.fail(bad(`${option} must be a time, such as "30 seconds"`)), onSome: Effect.succeed }
  )

interface Found {
  readonly credential: Credential
  /** The option or variable that names it, for messages. */
  readonly from: string
}

const storedSession = Effect.fnUntraced(function* (server: ServerUrl) {
  const session = yield* Effect.mapError(sessionFor(server), ({ message }) => bad(`credential.session: ${message}`))
  return yield* Option.match(session, {
    onNone: () => Effect.fail(bad(`credential.session: there is no session at ${server.origin}: run coffer login`)),
    onSome: Effect.succeed
  })
})

const findCredential = Effect.fnUntraced(function* (
  server: ServerUrl,
  option: CredentialOption | undefined
): Effect.fn.Return<Found, SignInError> {
  if (option === undefined) {
    const found = yield* Effect.catchTags(machineCredentialFor(server), {
      PrivateFileError: ({ message }) => bad(message),
      UntrustedServer: ({ message }) => bad(message)
    })
    const from = (yield* configuredBy) ?? "SERVICE_API_KEY"
    return yield* Option.match(found, {
      onNone: () =>
        Effect.fail(
          bad(
            "no credential: set SERVICE_API_KEY, SERVICE_API_KEY_FILE or SERVICE_ACCOUNT, or pass the option credential"
          )
        ),
      onSome: (credential) => Effect.succeed({ credential, from })
    })
  }
  if ("apiKey" in option) {
    if (!/^svc_sa_[\x21-\x7e]+$/.test(Redacted.value(option.apiKey))) {
      return yield* bad("credential.apiKey does not hold an API key: API keys start with svc_sa_")
    }
    return { credential: { type: "api_key", secret: option.apiKey }, from: "credential.apiKey" }
  }
  if ("account" in option) {
    const { signIn } = yield* Effect.promise(() => import("./internal/SignIn.js"))
    const from = "credential.account"
    return { credential: yield* signIn(server, option.account, { setting: from, token: option.token }), from }
  }
  return { credential: yield* storedSession(server), from: "credential.session" }
})

/** Node does not expand `~`: the copy would be in a folder of that name. */
const parseFolder = (folder: string) =>
  /^(?:~|$)/.test(folder)
    ? Effect.fail(bad("offline.folder must be the path of a folder, without ~, which only a shell expands"))
    : Effect.succeed(folder)

/** Checks the options and finds the credential. A message names the option or variable that is wrong. */
export const resolve = Effect.fnUntraced(function* (options: Options): Effect.fn.Return<Resolved, SignInError> {
  const path = yield* parsePlace(options.place)
  const server = yield* Effect.mapError(parseServerUrl(options.server, "flag"), ({ message }) =>
    bad(`server ${message}`)
  )
  const keys = yield* parseKeys(options.keys ?? [])
  const program = yield* parseName(options.name)
  const every = yield* parseDuration("every", options.every ?? "30 seconds")
  const offline =
    options.offline === undefined
      ? undefined
      : {
          folder: yield* parseFolder(options.offline.folder),
          maxAge: Duration.toMillis(yield* parseDuration("offline.maxAge", options.offline.maxAge))
        }
  const { credential, from } = yield* findCredential(server, options.credential)
  return {
    connection: { server, path, place: options.place, keys, program, credential, credentialFrom: from },
    every,
    offline
  }
})
