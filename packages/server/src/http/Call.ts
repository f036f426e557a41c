import { type Actor, Authentication, CurrentActor } from "@coffer/domain/Actor"
import { BodyLimit, defaultBodyLimit, LargeAnswer } from "@coffer/domain/api/Requirement"
import { type Forbidden, type NotFound, Overloaded, ValidationError } from "@coffer/domain/Errors"
import { HttpApiError, type HttpApiMiddleware, type HttpMethod, HttpServerResponse } from "@effect/platform"
import { Context, Effect, Either, Option, ParseResult, Schema, SchemaAST } from "effect"
import { accepting } from "./Accept.js"
import { answering, UnfitAnswer } from "./Answer.js"
import { readBody } from "./Body.js"
import type { CallServices, Handle } from "./Calls.js"
import type { Hold } from "./Held.js"
import type { NodeRequest } from "./NodeRequest.js"

interface HasAst {
  readonly ast: SchemaAST.AST
}

/** What of an endpoint serving it needs. */
interface Endpoint {
  readonly method: HttpMethod.HttpMethod
  readonly path: `/${string}`
  readonly pathSchema: Option.Option<HasAst>
  readonly payloadSchema: Option.Option<HasAst>
  readonly headersSchema: Option.Option<HasAst>
  readonly urlParamsSchema: Option.Option<HasAst>
  readonly successSchema: Schema.Schema.Any
}

/** A call of the contract, as the router finds it. */
export interface Call {
  readonly method: HttpMethod.HttpMethod
  readonly path: `/${string}`
  /** Whether only who holds a credential may call it. */
  readonly restricted: boolean
  /**
   * Answers a request: its query, path and headers, each decoded by its schema; whether the caller may make the call at all;
   * only then its body; then the handler, and its answer encoded. What is neither a check, the body nor the handler happens
   * at once, without a step of the fiber for each.
   */
  readonly answer: (request: NodeRequest, parameters: object, query: object, caller: Caller) => Answered
}

type Answered = Effect.Effect<HttpServerResponse.HttpServerResponse, unknown, CallServices>

/** Who makes a call, and the account on which its body and its answer are held. */
export interface Caller {
  readonly actor: Actor | null
  readonly body: Hold
  readonly answer: Hold
}

/** Checks whether the caller may make a call at the place that its path names. */
export type Check = (path: unknown) => Effect.Effect<void, Forbidden | NotFound, CurrentActor>

type Decode = (input: unknown) => Either.Either<unknown, ParseResult.ParseIssue>

const none = Either.right(undefined)
const nothing: Decode = () => none

const decoderOf = (schema: Option.Option<HasAst>): Decode =>
  Option.match(schema, {
    onNone: () => nothing,
    onSome: ({ ast }) => {
      const byRules = ParseResult.decodeUnknownEither(Schema.make<unknown, unknown>(ast))
      const accept = accepting(ast)
      return accept === null ? byRules : (value) => (accept(value) ? Either.right(value) : byRules(value))
    }
  })

const refuse = (issue: ParseResult.ParseIssue) =>
  HttpApiError.HttpApiDecodeError.refailParseError(ParseResult.parseError(issue))

/** Reports a parameter of the query that the call does not have; one that is no name is not repeated. */
const knowing = (schema: Option.Option<HasAst>) => {
  const names: ReadonlySet<PropertyKey> = new Set(
    Option.match(schema, {
      onNone: () => [],
      onSome: ({ ast }) => SchemaAST.getPropertySignatures(SchemaAST.encodedAST(ast)).map(({ name }) => name)
    })
  )
  return (query: object): ValidationError | undefined => {
    for (const name of Object.keys(query)) {
      if (!names.has(name)) {
        const shown = /^[A-Za-z0-9_.-]{1,100}$/.test(name) ? name : "the query"
        return new ValidationError({ message: `${shown}: is not a parameter of this call` })
      }
    }
    return undefined
  }
}

/** An answer of this size fits into what the system itself holds for a connection, in bytes. */
const smallAnswer = 64 * 1024

const tooManyAnswers = new Overloaded({
  message: "as many answers as the server may hold wait for their clients: try again in 1 second",
  retryAfter: 1
})

/** What the contract says of an endpoint and its handler, as a call. */
export const callOf = (
  endpoint: Endpoint,
  middleware: ReadonlySet<HttpApiMiddleware.TagClassAny>,
  annotations: Context.Context<never>,
  check: Check,
  handle: Handle
): Call => {
  const limit = Option.getOrElse(Context.getOption(annotations, BodyLimit), () => defaultBodyLimit)
  const restricted = [...middleware].some(({ key }) => key === Authentication.key)
  const hasPayload = Option.isSome(endpoint.payloadSchema)
  const decodePath = decoderOf(endpoint.pathSchema)
  const decodePayload = decoderOf(endpoint.payloadSchema)
  const decodeHeaders = decoderOf(endpoint.headersSchema)
  const decodeUrlParams = decoderOf(endpoint.urlParamsSchema)
  // Probes and links to the documents come with queries of their own.
  const unknownIn = restricted || hasPayload ? knowing(endpoint.urlParamsSchema) : () => undefined
  const encode = answering(endpoint.successSchema)
  const encoded = (value: unknown) => Effect.mapError(encode(value), (issue) => new UnfitAnswer({ issue }))
  /** An answer that a handler made itself is shared or small. */
  const admitted = (hold: Hold) => (value: unknown) => {
    if (HttpServerResponse.isServerResponse(value)) return encoded(value)
    return Effect.flatMap(
      encoded(value),
      (answer): Either.Either<HttpServerResponse.HttpServerResponse, Overloaded> => {
        const { body } = answer
        const size = body._tag === "Raw" || body._tag === "Uint8Array" ? (body.contentLength ?? 0) : 0
        hold.release()
        // What was changed is told in any case: that it was not done would be wrong.
        return size <= smallAnswer || hold.take(size) || endpoint.method !== "GET"
          ? Either.right(answer)
          : Either.left(tooManyAnswers)
      }
    )
  }

  /**
   * Large answers are made in slices, one at a time and only where there is room for one: else many callers would each have
   * one in the making, or one made for nothing.
   */
  const oneAtATime = Effect.unsafeMakeSemaphore(1).withPermits(1)
  const making = Option.match(Context.getOption(annotations, LargeAnswer), {
    onNone: () => (answer: Answered) => answer,
    onSome: (size) => (answer: Answered, hold: Hold) =>
      oneAtATime(
        Effect.suspend(() =>
          hold.take(size) ? Effect.onError(answer, () => Effect.sync(hold.release)) : Effect.fail(tooManyAnswers)
        )
      )
  })

  return {
    method: endpoint.method,
    path: endpoint.path,
    restricted,
    answer: (request, parameters, query, { actor, ...held }) =>
      Effect.suspend(() => {
        const unknown = unknownIn(query)
        if (unknown !== undefined) return unknown
        const path = decodePath(parameters)
        if (Either.isLeft(path)) return refuse(path.left)
        const headers = decodeHeaders(request.headers)
        if (Either.isLeft(headers)) return refuse(headers.left)
        const urlParams = decodeUrlParams(query)
        if (Either.isLeft(urlParams)) return refuse(urlParams.left)
        const withPayload = (payload: unknown) => {
          const decoded = { request, path: path.right, payload, headers: headers.right, urlParams: urlParams.right }
          return making(Effect.flatMap(handle(decoded), admitted(held.answer)), held.answer)
        }
        if (!hasPayload) return withPayload(undefined)
        const answered = Effect.ensuring(
          Effect.flatMap(readBody(request.source, limit, held.body), (body) => {
            const payload = decodePayload(body)
            return Either.isLeft(payload) ? refuse(payload.left) : withPayload(payload.right)
          }),
          Effect.sync(held.body.release)
        )
        return actor === null
          ? answered
          : Effect.zipRight(Effect.provideService(check(path.right), CurrentActor, actor), answered)
      })
  }
}
