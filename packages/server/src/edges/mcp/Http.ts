import { type Actor, currentActor, delegationOf } from "@coffer/domain/access/Actor"
import { Forbidden, Unauthorized, ValidationError } from "@coffer/domain/errors/Errors"
import type { ServerUrl } from "@coffer/client/internal/ServerUrl"
import type { HttpResponse, Send } from "@coffer/client/internal/Send"
import { typeOfDefect } from "@coffer/mcp/DefectType"
import { mcpSettings } from "@coffer/mcp/McpSettings"
import { listedOf, unknownIn } from "@coffer/mcp/Offers"
import * as Headers from "@effect/platform/Headers"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import { Authenticator } from "../../access/caller/Authenticator.js"
import { type Settings, ServerConfig } from "../../base/Config.js"
import { Version } from "../../database/jobs/Replica.js"
import { withService } from "../../base/WithService.js"
import { InProcess } from "../../http/InProcess.js"
import { type AddressSettings, McpApi, McpAuthentication } from "../../http/mcp/McpContract.js"
import { NodeRequest } from "../../http/NodeRequest.js"
import { hasPrefix } from "../../keys/Token.js"
import { responseOf } from "./MessageResponse.js"
import { makeSealedQuestions } from "./SealedQuestions.js"

const refusal = new Unauthorized({
  message:
    "the tool server needs Authorization: Bearer with a delegation, or with a service account's key: make a delegation with coffer delegate"
})

const noSession = new Unauthorized({
  message:
    "a person's session is not taken here, because an agent would have all rights of that person: make a delegation with coffer delegate"
})

const bearerIn = ({ authorization = "" }: Headers.Headers) => /^Bearer +(\S+) *$/i.exec(authorization)?.[1]

/** The credential of a request, in the headers of the contract. Undefined if the request has none that an agent may have. */
const credentialIn = (headers: Headers.Headers): Readonly<Record<string, string>> | undefined => {
  const token = headers["x-api-key"] ?? bearerIn(headers)
  if (token === undefined) return undefined
  if (hasPrefix("apiKey", token)) return { "x-api-key": token }
  return hasPrefix("delegation", token) || hasPrefix("federated", token)
    ? { authorization: `Bearer ${token}` }
    : undefined
}

const AuthenticationLive = Layer.effect(
  McpAuthentication,
  Effect.map(Authenticator, ({ identify }) =>
    McpAuthentication.of({
      bearer: () =>
        withService(HttpServerRequest.HttpServerRequest, ({ headers }) => {
          const credential = credentialIn(headers)
          if (credential !== undefined) return identify(Headers.fromInput(credential))
          const isPerson = headers["cookie"] !== undefined || hasPrefix("session", bearerIn(headers) ?? "")
          return isPerson ? noSession : refusal
        })
    })
  )
).pipe(Layer.provide(Authenticator.Default))

/** How a host reaches the server: for links, and for messages. */
const addressOf = ({ publicUrl, tls }: Settings, { headers }: NodeRequest): ServerUrl => {
  const base = publicUrl ?? `${tls === null ? "http" : "https"}://${headers["host"] ?? "localhost"}`
  return { base, origin: base, local: false, secure: true, source: "default" }
}

/** The name that all of some places have, if they have one. */
const onlyOf = (names: ReadonlyArray<string>) => (new Set(names).size === 1 ? names[0] : undefined)

/** The place of calls that name none: what the address says, or else the only one that the credential has. */
const placeOf = (actor: Actor, { env, org, project }: AddressSettings) => {
  const delegation = delegationOf(actor)
  if (delegation !== null) {
    const places = delegation.places.filter(
      (own) => (project ?? own.project.name) === own.project.name && (env ?? own.env.name) === own.env.name
    )
    return {
      org: org ?? delegation.org.name,
      project: project ?? onlyOf(places.map((own) => own.project.name)),
      env: env ?? onlyOf(places.map((own) => own.env.name))
    }
  }
  return actor.type === "service_account"
    ? { org: org ?? actor.orgName, project: project ?? actor.project?.name, env }
    : { org, project, env }
}

/** The scope that a refused call of the contract needs; null if that is not why. */
const neededScope = (headers: HttpResponse["headers"]): string | null =>
  /error="insufficient_scope", scope="([^"]*)"/.exec(String(headers["www-authenticate"] ?? ""))?.[1] ?? null

const variableOf = (name: string) => `SERVICE_MCP_${name.toUpperCase()}`

/** The settings in the address, with the names that they have there in messages. */
const settingsOf = ({ env: _, org: __, project: ___, ...given }: AddressSettings, isAccount: boolean) => {
  const found = mcpSettings(Object.fromEntries(Object.entries(given).map(([name, text]) => [variableOf(name), text])))
  return "problem" in found
    ? new ValidationError({
        message: found.problem.replace(/SERVICE_MCP_[A-Z_]+/g, (name) => name.slice(12).toLowerCase())
      })
    : Effect.succeed({ ...found, account: isAccount })
}

const McpHttp = HttpApiBuilder.group(McpApi, "mcp", (handlers) =>
  Effect.gen(function* () {
    const config = yield* ServerConfig
    const inProcess = yield* InProcess
    const version = yield* Version
    const questionsOf = yield* makeSealedQuestions
    const website = config.publicUrl === null ? undefined : `${config.publicUrl}/docs`
    // Loaded late: a server whom no agent calls starts without the protocol.
    const loaded = yield* Effect.cached(
      Effect.promise(() => Promise.all([import("@coffer/mcp/HttpDoor"), import("@coffer/mcp/HttpCalls")]))
    )
    return handlers.handleRaw("message", ({ urlParams }) =>
      Effect.gen(function* () {
        const request = yield* NodeRequest.current
        const actor = yield* currentActor
        const isAccount = actor.type === "service_account"
        const settings = yield* settingsOf(urlParams, isAccount)
        const [{ protocolHeaders, serveMessage }, { everyTool, httpCalls }] = yield* loaded
        const [unknown] = unknownIn(everyTool(), settings)
        if (unknown !== undefined) return yield* new ValidationError({ message: `tools: there is no tool ${unknown}` })
        const message = yield* Effect.orDie(request.body)
        const runtime = yield* Effect.runtime()
        const credential = credentialIn(request.headers) ?? {}
        const scopes: { asked: string | null; refused: string | null } = { asked: null, refused: null }
        const sendFor =
          (program: string | undefined): Send =>
          (own) =>
            Effect.tap(
              inProcess.serve(request, { ...own, headers: { ...own.headers, ...credential }, program }),
              ({ headers }) => {
                scopes.asked ??= neededScope(headers)
              }
            )
        const use = httpCalls({
          settings,
          server: addressOf(config, request),
          place: placeOf(actor, urlParams),
          asker: isAccount ? "account" : "person",
          sendFor,
          noteDefect: (cause) => Effect.logError(`a tool failed with an unexpected error (${typeOfDefect(cause)})`),
          run: (call, options) => Runtime.runPromise(runtime)(Effect.interruptible(call), options)
        })
        const noting: typeof use = async (name, parameters, host) => {
          const result = await use(name, parameters, host)
          if (result?.isError === true) scopes.refused ??= scopes.asked
          return result
        }
        const headers = protocolHeaders.flatMap((name) =>
          request.headers[name] === undefined ? [] : [[name, request.headers[name]] as const]
        )
        const options = {
          version,
          website,
          tools: listedOf(everyTool(), settings).map(({ when: _, ...tool }) => tool),
          use: () => Promise.resolve(noting),
          questions: questionsOf(actor, Runtime.runPromise(runtime)),
          onError: () => undefined
        }
        const response = yield* Effect.flatMap(
          Effect.tryPromise((signal) =>
            serveMessage(
              options,
              new Request("http://localhost/mcp", { method: "POST", headers: Object.fromEntries(headers), signal }),
              message
            )
          ),
          responseOf
        ).pipe(Effect.orDie)
        // A response that has begun cannot become an error.
        const scope = response.body._tag === "Stream" ? null : scopes.refused
        return scope === null
          ? response
          : yield* new Forbidden({ message: `the program needs the scope ${scope}: its person has to agree`, scope })
      })
    )
  })
)

/** The tool server, if it is on. */
export const McpLive = Layer.unwrapEffect(
  Effect.map(ServerConfig, ({ mcp }) =>
    mcp ? Layer.discard(McpHttp).pipe(Layer.provide(AuthenticationLive)) : Layer.empty
  )
)
