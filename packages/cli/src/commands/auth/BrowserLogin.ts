import { NotAuthenticated } from "@coffer/client/internal/Credentials"
import { parseServerUrl, type ServerUrl } from "@coffer/client/internal/ServerUrl"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { createHash, randomBytes } from "node:crypto"
import { CannotDo } from "../../base/Failures.js"
import { clientWith } from "../../grammar/Command.js"
import { openBrowser } from "../../terminal/Browser.js"
import { note } from "../../terminal/Print.js"
import { endLogin } from "./LoginEnd.js"
import { listenForBrowser } from "./Loopback.js"
import { machineName } from "./Machine.js"

/** As long as the server remembers a login in the browser. */
const minutes = 10

const tooLate = new NotAuthenticated({
  message: `nobody logged in in the browser within ${minutes} minutes; run coffer login again, or coffer login --device`
})

const randomText = (bytes: number) => randomBytes(bytes).toString("base64url")

/** The address that the browser opens. The server's word is checked: an opener takes more than web pages. */
const loginPage = (publicUrl: string, parameters: Readonly<Record<string, string>>) =>
  Either.mapBoth(parseServerUrl(publicUrl, "flag"), {
    onLeft: ({ message }) => new CannotDo({ message: `the server's address for browsers ${message}` }),
    onRight: ({ base }) => new URL(`${base}/login?${new URLSearchParams(parameters).toString()}`)
  })

/**
 * Logs in with the browser of this machine, which brings a code to a listener here (RFC 8252). Returns false if no browser
 * can be opened.
 */
export const loginByBrowser = Effect.fnUntraced(function* (server: ServerUrl, publicUrl: string, json: boolean) {
  const state = randomText(16)
  const verifier = randomText(32)
  const { redirectUri, returned } = yield* listenForBrowser(state)
  const page = yield* loginPage(publicUrl, {
    redirect_uri: redirectUri,
    state,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    ...machineName()
  })
  yield* note(`log in in the browser that opens now; if none does, open ${page.href}`)
  if (!(yield* openBrowser(page))) return false
  const code = yield* Effect.timeoutFail(returned, { duration: `${minutes} minutes`, onTimeout: () => tooLate })
  const client = yield* clientWith(server, Option.none())
  const { token } = yield* client.call("auth", (api) =>
    api.token({ payload: { code, verifier: Redacted.make(verifier) } })
  )
  yield* endLogin(server, token, json)
  return true
})
