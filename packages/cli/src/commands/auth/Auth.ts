import { hasApiKey, NotAuthenticated, sessionFor, type SessionToken } from "@coffer/domain/client/Credentials"
import type { ServerUrl } from "@coffer/domain/client/ServerUrl"
import { forgetSession, storeSession } from "@coffer/domain/client/SessionFile"
import { loadSettings } from "@coffer/domain/client/Settings"
import { isTrusted, trustOrigin } from "@coffer/domain/client/TrustedOrigins"
import { Email, LoginCode } from "@coffer/domain/Names"
import { Effect, Either, Option, type Redacted, Schema } from "effect"
import { CannotDo, WrongUsage } from "../../Failures.js"
import { atServer, clientWith, command, json, serverUrl } from "../../grammar/Command.js"
import { option } from "../../grammar/Fields.js"
import type { Input } from "../../terminal/Input.js"
import type { Output } from "../../terminal/Output.js"
import { note, printLine } from "../../terminal/Print.js"
import { ask, canAsk, confirm } from "../../terminal/Prompts.js"
import { doneView, printView, recordView } from "../../terminal/View.js"
import { readSessionToken } from "./SessionTokens.js"

const wrong = (message: string) => new WrongUsage({ message })

const decodeEmail = (text: string) =>
  Either.mapLeft(Schema.decodeEither(Email)(text), () => wrong("that is not an e-mail address such as ada@example.com"))
const decodeCode = (text: string) =>
  Either.mapLeft(Schema.decodeEither(LoginCode)(text.trim()), () => wrong("a login code has 6 digits"))

/**
 * Asks for the code, three times at most. The server takes each code once, also with a wrong one: then a new code is
 * requested. A text that cannot be a code is not sent.
 */
const askCode = <A, E extends { readonly _tag: string; readonly message: string }, E2, R>(
  verify: (text: string) => Effect.Effect<A, E, R>,
  requestCode: Effect.Effect<unknown, E2, R>,
  times = 3
): Effect.Effect<A, E | E2, R | Input | Output> =>
  Effect.catchAll(Effect.flatMap(ask("Code: "), verify), (failure): Effect.Effect<A, E | E2, R | Input | Output> => {
    if (times <= 1) return Effect.fail(failure)
    const again = askCode(verify, requestCode, times - 1)
    if (failure._tag === "WrongUsage") return Effect.zipRight(note(`${failure.message}; type it again`), again)
    if (failure._tag !== "InvalidCode") return Effect.fail(failure)
    return requestCode.pipe(
      Effect.zipRight(note("the code is wrong or expired, and cannot be used any more; a new one is on its way")),
      Effect.zipRight(again)
    )
  })

/** Asks whether to log in at a server that only `service.yml` names: that file may come with somebody else's repository. */
const settleServer = Effect.fnUntraced(function* (server: ServerUrl) {
  if (server.source !== "file" || server.local || (yield* isTrusted(server.origin))) return
  yield* note(`service.yml names the server ${server.origin}`)
  if (yield* canAsk) yield* confirm("Log in there, and send your API keys there from now on?", false)
})

const keep = Effect.fnUntraced(function* (server: ServerUrl, token: Redacted.Redacted) {
  yield* storeSession(server.origin, token)
  yield* trustOrigin(server.origin)
  if (yield* hasApiKey) yield* note("SERVICE_API_KEY is set and goes before this session: unset it to be yourself")
})

/** Logs in with a session token from the server's operator, without mail. */
const loginWithToken = Effect.fnUntraced(function* (server: ServerUrl, option: string) {
  yield* settleServer(server)
  const secret = yield* readSessionToken(option)
  const session: SessionToken = { type: "session", secret }
  const client = yield* clientWith(server, Option.some(session))
  const identity = yield* client
    .call("auth", (api) => api.me({}))
    .pipe(
      Effect.catchTag(
        "Unauthorized",
        () =>
          new NotAuthenticated({
            message: `${server.origin} does not take this token: its session has ended, or it is another server's`
          })
      )
    )
  yield* keep(server, secret)
  yield* printLine(`logged in to ${server.origin} as ${identity.type === "user" ? identity.email : identity.name}`)
})

interface LoginOptions {
  readonly email: Email | undefined
  readonly code: string | undefined
}

/** Logs in with a code that is sent by e-mail. */
const loginWithCode = Effect.fnUntraced(function* (server: ServerUrl, options: LoginOptions) {
  const isAsking = yield* canAsk
  if (options.email === undefined && !isAsking) return yield* wrong("nobody can be asked here: add --email")
  yield* settleServer(server)
  const address = options.email ?? (yield* decodeEmail(yield* ask("E-mail: ")))
  const client = yield* clientWith(server, Option.none())
  const requestCode = client.call("auth", (api) => api.login({ payload: { email: address } }))
  if (options.code === undefined) {
    const { message } = yield* requestCode
    if (!isAsking) {
      yield* printLine(message)
      return yield* printLine(`go on with: coffer login --email ${address} --code CODE`)
    }
    yield* note(message)
  }
  const verify = (text: string) =>
    Effect.flatMap(decodeCode(text), (given) =>
      client.call("auth", (api) => api.verify({ payload: { email: address, code: given } }))
    )
  const answer = yield* options.code === undefined ? askCode(verify, requestCode) : verify(options.code)
  // Without a token only if the request asked for a cookie.
  const { token } = answer ?? (yield* Effect.dieMessage("the server returned no token"))
  yield* keep(server, token)
  yield* printLine(`logged in to ${server.origin} as ${address}`)
})

const login = command("login", {
  description: "Log in with a code that is sent to you by e-mail, or with a session token",
  examples: ["coffer login --email ada@example.com", "coffer login --token - < token.txt"],
  options: {
    email: option("email", Email, "Your e-mail address"),
    code: option("code", Schema.String, "The code of 6 digits that was sent to you"),
    token: option("token", Schema.String, "Take a session token instead of a code; - reads it from standard input"),
    serverUrl
  },
  check: ({ code, email, token }) =>
    token !== undefined && (email !== undefined || code !== undefined)
      ? "--token goes without --email and --code: the token says whose session it is"
      : undefined,
  run: (options) =>
    Effect.gen(function* () {
      const settings = yield* loadSettings({ serverUrl: options.serverUrl })
      const server = yield* settings.server
      if (options.token === undefined) yield* loginWithCode(server, options)
      else yield* loginWithToken(server, options.token)
    })
})

const logout = command("logout", {
  description: "End the session, and remove it from this machine",
  examples: ["coffer logout"],
  options: { serverUrl },
  run: (options) =>
    Effect.gen(function* () {
      const settings = yield* loadSettings(options)
      const server = yield* settings.server
      const session = yield* sessionFor(server)
      if (Option.isNone(session)) return yield* printLine(`there is no session at ${server.origin}`)
      const client = yield* clientWith(server, session)
      // Remove the session even if the server cannot be reached: this machine may change hands.
      yield* client
        .call("auth", (api) => api.logout({}))
        .pipe(
          Effect.catchTag("Unauthorized", () => Effect.void),
          Effect.mapError(
            (error) =>
              new CannotDo({ message: `the session is forgotten here, but the server was not told: ${error.message}` })
          ),
          Effect.ensuring(Effect.orDie(forgetSession(server.origin)))
        )
      yield* printLine(`logged out of ${server.origin}`)
    })
})

const whoami = atServer("whoami", {
  description: "Who the credential belongs to",
  examples: ["coffer whoami", "coffer whoami --json"],
  options: {},
  run: ({ call, server }) =>
    Effect.map(
      call("auth", (api) => api.me({})),
      (identity) => ({ ...recordView({ ...identity, server: server.origin }), json: identity })
    )
})

const health = command("health", {
  description: "Whether the server can be reached",
  examples: ["coffer health", "coffer health --server-url https://coffer.example.com"],
  options: { serverUrl, json },
  run: ({ json, serverUrl }) =>
    Effect.gen(function* () {
      const settings = yield* loadSettings({ serverUrl })
      const server = yield* settings.server
      const client = yield* clientWith(server, Option.none())
      const answer = yield* client.call("system", (api) => api.health({}))
      yield* printView(doneView(`${server.base} is ${answer.status}`, answer), json)
    })
})

export const authCommands = [login, logout, whoami, health] as const
