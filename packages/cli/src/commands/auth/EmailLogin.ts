import type { ServerUrl } from "@coffer/client/internal/ServerUrl"
import { typedCode } from "@coffer/domain/base/NameForms"
import { Email, LoginCode, loginCodeMessage } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { WrongUsage } from "../../base/Failures.js"
import { clientWith } from "../../grammar/Command.js"
import type { Input } from "../../terminal/Input.js"
import type { Output } from "../../terminal/Output.js"
import { note, printLine } from "../../terminal/Print.js"
import { ask, canAsk } from "../../terminal/Prompts.js"
import { printView } from "../../terminal/View.js"
import { endLogin, keepSession, settleServer } from "./LoginEnd.js"
import { machineName } from "./Machine.js"

const wrong = (message: string) => new WrongUsage({ message })

const decodeEmail = (text: string) =>
  Either.mapLeft(Schema.decodeEither(Email)(text), () => wrong("that is not an e-mail address such as ada@example.com"))
const decodeCode = (text: string) =>
  Either.mapLeft(Schema.decodeEither(LoginCode)(typedCode(text)), () => wrong(loginCodeMessage))

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

interface LoginOptions {
  /** Undefined if the command has to ask for it. */
  readonly email: Email | undefined
  readonly code: string | undefined
  readonly json: boolean
}

/** Logs in with a code that is sent by e-mail. */
export const loginWithCode = Effect.fnUntraced(function* (server: ServerUrl, options: LoginOptions) {
  const isAsking = yield* canAsk
  if (options.email === undefined && !isAsking) return yield* wrong("nobody can be asked here: add --email ADDRESS")
  yield* settleServer(server)
  const address = options.email ?? (yield* decodeEmail(yield* ask("E-mail: ")))
  const client = yield* clientWith(server, Option.none())
  const requestCode = client.call("auth", (api) => api.login({ payload: { email: address } }))
  if (options.code === undefined) {
    const { message } = yield* requestCode
    if (!isAsking) {
      const next = `coffer login --email ${address} --code CODE`
      const text = Effect.zipRight(printLine(message), printLine(`continue with: ${next}`))
      return yield* printView({ text, json: { message, next } }, options.json)
    }
    yield* note(message)
  }
  const verify = (text: string) =>
    Effect.flatMap(decodeCode(text), (given) => {
      const verifyOn = (machine: ReturnType<typeof machineName>) =>
        client.call("auth", (api) => api.verify({ payload: { email: address, code: given, ...machine } }))
      // A server of an earlier release rejects the machine, and does not use up the code.
      return Effect.catchTag(verifyOn(machineName()), "ValidationError", () => verifyOn({}))
    })
  const session = yield* options.code === undefined ? askCode(verify, requestCode) : verify(options.code)
  // Without a token only if the request asked for a cookie.
  const { token } = session ?? (yield* Effect.dieMessage("the server returned no token"))
  if (options.json) return yield* endLogin(server, token, true)
  yield* keepSession(server, token)
  yield* printLine(`logged in to ${server.origin} as ${address}`)
})
