import { reasonOf } from "@coffer/client/internal/ConnectionProblem"
import { makeSend } from "@coffer/client/internal/NodeRequest"
import { type HttpResponse, textOf } from "@coffer/client/internal/Send"
import { parseServerUrl } from "@coffer/client/internal/ServerUrl"
import { BadSetting, variable, Variables } from "@coffer/client/internal/Variables"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { CannotDo, plain } from "../../../base/Failures.js"

/** A tool's HTTP API, as messages name it. */
export interface ApiOptions {
  /** The tool's name, for people. */
  readonly tool: string
  /** Variables that may hold its address: the first that is set counts. */
  readonly addresses: ReadonlyArray<string>
  readonly usualAddress: string
  /** Variables that may hold the token. */
  readonly tokens: ReadonlyArray<string>
  readonly headers: (token: string) => Readonly<Record<string, string>>
}

const firstOf = (env: Readonly<Record<string, string | undefined>>, names: ReadonlyArray<string>) =>
  names.flatMap((name) => {
    const text = variable(env, name)
    return text === undefined ? [] : [{ name, text }]
  })[0]

/** Describes the problem that a status other than success means. */
const problemOf = (status: number, token: string): string => {
  if (status === 401 || status === 403)
    return `refused the token (${status}): see whether ${token} is valid, and may read this`
  if (status === 404) return "does not have what was asked for (404): check its name"
  if (status === 429) return "limits the rate of requests (429): try again later"
  if (status >= 300 && status < 400)
    return `answered with a redirect (${status}), which is not followed: check the address`
  return `answered ${status}`
}

const patience = 30

/**
 * Connects to a tool's API with its token from its own variables. The token goes over https alone, or to this machine. No message
 * repeats what the tool returned.
 */
export const openApi = Effect.fnUntraced(function* ({ addresses, headers, tokens, tool, usualAddress }: ApiOptions) {
  const env = yield* Variables
  const token = firstOf(env, tokens)
  if (token === undefined) {
    return yield* new BadSetting({
      message: `to read from ${tool}, set ${tokens.join(" or ")}; or name a file that it exported`
    })
  }
  if (!/^[\x21-\x7e]+$/.test(token.text)) {
    return yield* new BadSetting({
      message: `${token.name} holds no token: it has spaces, line ends or other characters`
    })
  }
  const secret = Redacted.make(token.text)
  const address = firstOf(env, addresses) ?? { name: "the usual address", text: usualAddress }
  const url = yield* Either.mapLeft(
    parseServerUrl(address.text, "variable"),
    ({ message }) => new BadSetting({ message: `${address.name} ${message}` })
  )
  if (!url.secure && !url.local) {
    return yield* new BadSetting({
      message: `${address.name} is not https: the token of ${tool} would travel in clear text`
    })
  }
  const send = yield* makeSend(url)
  const fail = (problem: string) => new CannotDo({ message: `${tool} at ${url.origin} ${plain(problem)}` })
  const request = (path: string, query: Readonly<Record<string, string>> = {}, method = "GET") => {
    const target = new URL(url.base + path)
    for (const [name, value] of Object.entries(query)) target.searchParams.set(name, value)
    return send({
      url: target,
      method,
      headers: { accept: "application/json", ...headers(Redacted.value(secret)) }
    }).pipe(
      Effect.mapError((failed) => fail(`cannot be reached: ${reasonOf(failed)}`)),
      Effect.timeoutFail({
        duration: `${patience} seconds`,
        onTimeout: () => fail(`did not respond within ${patience} s`)
      })
    )
  }
  const bodyOf = (response: HttpResponse) =>
    response.status === 200
      ? Effect.succeed(Redacted.make(textOf(response)))
      : fail(problemOf(response.status, token.name))
  /** Decodes a response with names. */
  const decode = <A, I>(schema: Schema.Schema<A, I>, body: Redacted.Redacted) =>
    Option.match(Schema.decodeUnknownOption(Schema.parseJson(schema))(Redacted.value(body)), {
      onNone: () => fail(`did not respond as ${tool} does: check the address`),
      onSome: (found) => Effect.succeed(found)
    })
  /** Gets the body of a response. */
  const get = (...parameters: Parameters<typeof request>) => Effect.flatMap(request(...parameters), bodyOf)
  /** The same; none where the tool has nothing there. */
  const find = (...parameters: Parameters<typeof request>) =>
    Effect.flatMap(request(...parameters), (response) =>
      response.status === 404 ? Effect.succeedNone : Effect.asSome(bodyOf(response))
    )
  return { decode, env, fail, find, get }
})
