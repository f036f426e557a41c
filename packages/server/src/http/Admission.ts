import { Authentication, CurrentActor } from "@coffer/domain/Actor"
import { Admission, BodyLimit, defaultBodyLimit, LargeAnswer, Requires } from "@coffer/domain/api/Requirement"
import { type Forbidden, type NotFound, Overloaded, ValidationError } from "@coffer/domain/Errors"
import { HttpApi, type HttpApiGroup, HttpRouter, HttpServerRequest } from "@effect/platform"
import { Context, Effect, Option, SchemaAST } from "effect"
import { Access } from "../access/Access.js"
import { entry } from "../access/Entry.js"
import { readBody } from "./Body.js"
import { makeHeld } from "./Held.js"
import { NodeRequest } from "./NodeRequest.js"

/** What admission needs to know of a call. */
interface Call {
  /** The parameters of its query; null where any are accepted. */
  readonly parameters: ReadonlySet<string> | null
  /** The largest body; null where none is read. */
  readonly bodyLimit: number | null
  /** The size of an answer that may be large; null where answers are small. */
  readonly largeAnswer: number | null
  readonly check: (path: unknown) => Effect.Effect<void, Forbidden | NotFound, CurrentActor>
}

const keyOf = ({ method, path }: { readonly method: string; readonly path: string }): string => `${method} ${path}`

const callsOf = <Id extends string, Groups extends HttpApiGroup.HttpApiGroup.Any, E, R>(
  api: HttpApi.HttpApi<Id, Groups, E, R>,
  access: Access
): ReadonlyMap<string, Call> => {
  const calls = new Map<string, Call>()
  HttpApi.reflect(api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint, group, mergedAnnotations, middleware }) => {
      const requires = Option.getOrElse(Context.getOption(mergedAnnotations, Requires), () => "superadmin" as const)
      const hasBody = Option.isSome(endpoint.payloadSchema)
      // Health checks and links to the documents come with parameters of their own.
      const isStrict = hasBody || [...middleware].some(({ key }) => key === Authentication.key)
      const parameters = Option.match(endpoint.urlParamsSchema, {
        onNone: () => [],
        onSome: ({ ast }) => SchemaAST.getPropertySignatures(SchemaAST.encodedAST(ast)).map(({ name }) => String(name))
      })
      calls.set(keyOf(endpoint), {
        parameters: isStrict ? new Set(parameters) : null,
        bodyLimit: hasBody
          ? Option.getOrElse(Context.getOption(mergedAnnotations, BodyLimit), () => defaultBodyLimit)
          : null,
        largeAnswer: Option.getOrNull(Context.getOption(mergedAnnotations, LargeAnswer)),
        // A refusal is recorded under the handler's name of the action, such as `backup.drill` for the group `backups`.
        check: entry(access, requires, `${group.identifier.replace(/s$/, "")}.${endpoint.name}`)
      })
    }
  })
  return calls
}

/** A name that is not in the form of ours is not repeated. */
const unknownParameter = (name: string) =>
  new ValidationError({
    message: `${/^[A-Za-z0-9_.-]{1,100}$/.test(name) ? name : "the query"}: is not a parameter of this call`
  })

export const tooManyAnswers = new Overloaded({
  message: "as many answers as the server may hold wait for their clients: try again in 1 second",
  retryAfter: 1
})

const mebibyte = 1024 * 1024

/**
 * Admits the calls of a contract. It sets what the request needs from here on: the account for its response and, where there
 * is a body, the check of the right that comes before reading it. The toolkit decodes the path first, then asks for the body.
 */
export const makeAdmission = <Id extends string, Groups extends HttpApiGroup.HttpApiGroup.Any, E, R>(
  api: HttpApi.HttpApi<Id, Groups, E, R>
) =>
  Effect.map(Access, (access) => {
    const calls = callsOf(api, access)
    // One caller may hold two of the largest bodies at once.
    const bodies = makeHeld({ total: 40 * mebibyte, each: 36 * mebibyte })
    // By address: clients without a credential cannot use up the memory that is for others.
    const bodiesOfStrangers = makeHeld({ total: 4 * mebibyte, each: mebibyte })
    // Responses that are not small and wait for their clients.
    const responses = makeHeld({ total: 16 * mebibyte, each: 12 * mebibyte })
    const permit = Effect.unsafeMakeSemaphore(1)

    /** Large answers are made one at a time and only where there is memory for one. */
    const beginLargeAnswer = (request: NodeRequest, size: number) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(restore(permit.take(1)), () => {
          request.endLargeAnswer = permit.release(1)
          return request.responseHold?.take(size) === false ? Effect.fail(tooManyAnswers) : Effect.void
        })
      )

    const admit = Effect.contextWithEffect(
      (context: Context.Context<HttpRouter.HttpRouter.Provided>): Effect.Effect<void, Overloaded | ValidationError> => {
        const { params, route } = Context.get(context, HttpRouter.RouteContext)
        const call = calls.get(keyOf(route))
        const request = Context.get(context, HttpServerRequest.HttpServerRequest)
        if (call === undefined || !(request instanceof NodeRequest))
          return Effect.dieMessage("a call is not of the contract")
        const { info } = request
        const actor = Option.getOrNull(Context.getOption(context, CurrentActor))
        info.route = route.path
        info.actor = actor?.id ?? null
        request.responseHold = responses(actor?.id ?? "")
        const { bodyLimit, check, largeAnswer, parameters } = call
        if (parameters !== null) {
          for (const name of Object.keys(Context.get(context, HttpServerRequest.ParsedSearchParams))) {
            if (!parameters.has(name)) return Effect.fail(unknownParameter(name))
          }
        }
        if (bodyLimit !== null) {
          const hold = actor === null ? bodiesOfStrangers(info.ip ?? "") : bodies(actor.id)
          const body = readBody(request.source, bodyLimit, hold)
          request.bodyHold = hold
          request.body =
            actor === null ? body : Effect.zipRight(Effect.provideService(check(params), CurrentActor, actor), body)
        }
        return largeAnswer === null ? Effect.void : beginLargeAnswer(request, largeAnswer)
      }
    )
    // Each call declares its refusals itself.
    return Admission.of(Effect.orDie(admit))
  })
