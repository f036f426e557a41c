import { Api } from "@coffer/domain/Api"
import type { DelegatedEnvironment } from "@coffer/domain/directory/Delegation"
import { NotFound, ValidationError } from "@coffer/domain/errors/Errors"
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { Access } from "../../access/Access.js"
import { ServerConfig } from "../../base/Config.js"
import { userScope } from "../../database/Scopes.js"
import { issuerOf } from "../../http/mcp/Issuer.js"
import { NodeRequest } from "../../http/NodeRequest.js"
import { neededFor } from "../delegations/Delegations.js"
import { readAuthorizationRequest } from "./AuthorizationRequest.js"
import { Consents } from "./Consents.js"
import { Programs } from "./AskingPrograms.js"
import { isLocalRedirect, placeOfRedirect } from "./RedirectUri.js"

const off = new NotFound({
  message: "this server connects no programs: it needs SERVICE_PUBLIC_URL, SERVICE_MCP and the console"
})

export const ConsentsHttp = HttpApiBuilder.group(Api, "consents", (handlers) =>
  Effect.gen(function* () {
    const access = yield* Access
    const { person } = access
    const config = yield* ServerConfig
    const consents = yield* Consents
    const programs = yield* Programs

    const read = (query: string) =>
      Effect.gen(function* () {
        const { headers } = yield* NodeRequest.current
        const issuer = issuerOf(config, headers)
        return issuer === null ? yield* off : yield* readAuthorizationRequest(query, issuer, programs.find)
      })

    return handlers
      .handle("review", ({ payload }) =>
        Effect.gen(function* () {
          yield* consents.count("review", yield* person("consent.review"))
          const { answer, asked, program, redirectUri } = yield* read(payload.request)
          const isWrong = "error" in asked
          return {
            program: { name: program.name, ...(program.host !== null && { host: program.host }) },
            answer_to: placeOfRedirect(redirectUri),
            is_local: isLocalRedirect(redirectUri),
            permission: isWrong ? ("use" as const) : asked.permission,
            reveal: !isWrong && asked.reveal,
            ...(isWrong && { problem: asked.description }),
            refuse_to: answer(
              isWrong
                ? { error: asked.error, error_description: asked.description }
                : { error: "access_denied", error_description: "the person refused" }
            )
          }
        })
      )
      .handle("create", ({ payload }) =>
        Effect.gen(function* () {
          const actor = yield* person("consent.create")
          const { also = [], env, org: org_name, permission, project } = payload
          const enter = (one: DelegatedEnvironment) =>
            access.right({ org_name, project_name: one.project, env_name: one.env }, neededFor[permission], "some")
          const entered = Effect.forEach([{ project, env }, ...also] as const, enter)
          // Before the document of a program is fetched, for which no transaction waits.
          yield* entered
          yield* consents.count("consent", actor)
          const request = yield* read(payload.request)
          const { asked } = request
          if ("error" in asked) return yield* new ValidationError({ message: asked.description })
          const code = yield* access.change(
            entered,
            (places) => consents.consent(places, actor, request, asked, payload),
            // The delegations of a person are counted.
            { also: [userScope(actor.id)] }
          )
          return { continue_to: Redacted.make(request.answer({ code: Redacted.value(code) })) }
        })
      )
  })
).pipe(Layer.provide([Consents.Default, Programs.Default]))
