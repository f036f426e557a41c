import { Authentication } from "@coffer/domain/Actor"
import { BodyLimit, defaultBodyLimit } from "@coffer/domain/api/Requirement"
import { HttpApiError, type HttpApiMiddleware, type HttpMethod, type HttpServerResponse } from "@effect/platform"
import { Context, Effect, Either, Option, ParseResult, Schema, type SchemaAST } from "effect"
import { accepting } from "./Accept.js"
import { answering, UnfitAnswer } from "./Answer.js"
import { readBody } from "./Body.js"
import type { CallServices, Handle } from "./Calls.js"
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
   * Answers a request: its path, body, headers and query, each decoded by its schema; then the handler, and its answer encoded.
   * What is neither the body nor the handler happens at once, without a step of the fiber for each.
   */
  readonly answer: (
    request: NodeRequest,
    parameters: object,
    query: object
  ) => Effect.Effect<HttpServerResponse.HttpServerResponse, unknown, CallServices>
}

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

/** What the contract says of an endpoint and its handler, as a call. */
export const callOf = (
  endpoint: Endpoint,
  middleware: ReadonlySet<HttpApiMiddleware.TagClassAny>,
  annotations: Context.Context<never>,
  handle: Handle
): Call => {
  const limit = Option.getOrElse(Context.getOption(annotations, BodyLimit), () => defaultBodyLimit)
  const decodePath = decoderOf(endpoint.pathSchema)
  const decodePayload = decoderOf(endpoint.payloadSchema)
  const decodeHeaders = decoderOf(endpoint.headersSchema)
  const decodeUrlParams = decoderOf(endpoint.urlParamsSchema)
  const encode = answering(endpoint.successSchema)
  const encoded = (value: unknown) => Either.mapLeft(encode(value), (issue) => new UnfitAnswer({ issue }))

  return {
    method: endpoint.method,
    path: endpoint.path,
    restricted: [...middleware].some(({ key }) => key === Authentication.key),
    answer: (request, parameters, query) =>
      Effect.suspend(() => {
        const path = decodePath(parameters)
        if (Either.isLeft(path)) return refuse(path.left)
        const withPayload = (payload: unknown) => {
          const headers = decodeHeaders(request.headers)
          if (Either.isLeft(headers)) return refuse(headers.left)
          const urlParams = decodeUrlParams(query)
          if (Either.isLeft(urlParams)) return refuse(urlParams.left)
          const decoded = { request, path: path.right, payload, headers: headers.right, urlParams: urlParams.right }
          return Effect.flatMap(handle(decoded), encoded)
        }
        if (Option.isNone(endpoint.payloadSchema)) return withPayload(undefined)
        return Effect.flatMap(readBody(request.source, limit), (body) => {
          const payload = decodePayload(body)
          return Either.isLeft(payload) ? refuse(payload.left) : withPayload(payload.right)
        })
      })
  }
}
