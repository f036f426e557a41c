import type { ServerUrl } from "@coffer/client/internal/ServerUrl"
import { loadSettings } from "@coffer/client/internal/Settings"
import { Variables } from "@coffer/client/internal/Variables"
import { Email } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { CannotDo, WrongUsage } from "../../base/Failures.js"
import { clientWith, command, json, serverUrl, withAlias } from "../../grammar/Command.js"
import { option, optionOrAlone } from "../../grammar/Fields.js"
import { flag } from "../../grammar/Specs.js"
import { noBrowserReason } from "../../terminal/Browser.js"
import { note } from "../../terminal/Print.js"
import { canAsk } from "../../terminal/Prompts.js"
import { loginByBrowser } from "./BrowserLogin.js"
import { loginByDevice } from "./DeviceLogin.js"
import { loginWithCode } from "./EmailLogin.js"
import { endLogin, settleServer } from "./LoginEnd.js"
import { readSessionToken } from "./SessionTokens.js"

/** The address at which browsers reach the server; null if it has none, as older servers. */
export const publicUrlOf = Effect.fnUntraced(function* (server: ServerUrl) {
  const client = yield* clientWith(server, Option.none())
  return yield* client
    .call("auth", (api) => api.methods({}))
    .pipe(
      Effect.map(({ public_url }) => public_url),
      Effect.catchTag("NotFound", () => Effect.succeed(null))
    )
})

const noPublicUrl = (server: ServerUrl) =>
  new CannotDo({
    message: `${server.origin} has no address for browsers (its setting SERVICE_PUBLIC_URL); run coffer login --email`
  })

/** Logs in with the browser of this machine or, where there is none, with one anywhere. */
const loginByAnyBrowser = Effect.fnUntraced(function* (server: ServerUrl, publicUrl: string, json: boolean) {
  const reason = noBrowserReason(yield* Variables)
  if (reason === undefined && (yield* loginByBrowser(server, publicUrl, json))) return
  yield* note(
    `no browser can be opened here${reason === undefined ? "" : `, because ${reason}`}: going on with --device`
  )
  yield* loginByDevice(server, json)
})

/** Logs in as the server and this machine allow, with no other way chosen. */
export const loginAnyhow = Effect.fnUntraced(function* (server: ServerUrl, json: boolean) {
  if (!(yield* canAsk)) return yield* new WrongUsage({ message: "nobody can be asked here: add --email, or --device" })
  yield* settleServer(server)
  const publicUrl = yield* publicUrlOf(server)
  if (publicUrl === null) yield* loginWithCode(server, { email: undefined, code: undefined, json })
  else yield* loginByAnyBrowser(server, publicUrl, json)
})

const login = command("login", {
  description: "Log in with your browser, with a code by e-mail, or with a session token",
  examples: [
    "coffer login",
    "coffer login --device",
    "coffer login --email ada@example.com",
    "coffer login --token - < token.txt"
  ],
  options: {
    email: optionOrAlone("email", "ADDRESS", Email, "Log in with a code that is sent to your e-mail address"),
    code: option("code", Schema.String, "The code of 6 digits that was sent to you"),
    device: flag("device", "Show a code to enter in a browser on any machine"),
    token: option("token", Schema.String, "Take a session token instead; - reads it from standard input"),
    serverUrl,
    json
  },
  check: ({ code, device, email, token }) => {
    if (token !== undefined && (email !== undefined || code !== undefined)) {
      return "--token cannot be combined with --email or --code: the token says whose session it is"
    }
    return device && [email, code, token].some((given) => given !== undefined)
      ? "--device cannot be combined with --email, --code or --token"
      : undefined
  },
  run: ({ code, device, email, json, serverUrl, token }) =>
    Effect.gen(function* () {
      const settings = yield* loadSettings({ serverUrl })
      const server = yield* settings.server
      if (token !== undefined) {
        yield* settleServer(server)
        return yield* endLogin(server, yield* readSessionToken(token), json)
      }
      if (device) {
        yield* settleServer(server)
        if ((yield* publicUrlOf(server)) === null) return yield* noPublicUrl(server)
        return yield* loginByDevice(server, json)
      }
      if (email === undefined && code === undefined) return yield* loginAnyhow(server, json)
      yield* loginWithCode(server, { email: email ?? undefined, code, json })
    })
})

export const loginCommand = withAlias(login, "in")
