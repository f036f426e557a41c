import { Authentication, CurrentActor } from "@coffer/domain/Actor"
import { BodyLimit, defaultBodyLimit } from "@coffer/domain/api/Requirement"
import { HttpApiError, type HttpApiMiddleware, type HttpMethod, HttpRouter, HttpServerRequest } from "@effect/platform"
import { toIncomingMessage } from "@effect/platform-node/NodeHttpServerRequest"
import { Context, Effect, Either, Option, ParseResult, Schema, type SchemaAST } from "effect"
import type { Authenticator } from "../auth/Authenticator.js"
import { answering, UnfitAnswer } from "./Answer.js"
import { readBody } from "./Body.js"
import type { Handle } from "./Calls.js"
import { RequestInfo } from "./RequestInfo.js"

interface HasAst {
  readonly ast: SchemaAST.AST
}

/** What of an endpoint serving it needs. */
interface Endpoint {
  readonly method: HttpMethod.HttpMethod
  readonly path: HttpRouter.PathInput
  readonly pathSchema: Option.Option<HasAst>
  readonly payloadSchema: Option.Option<HasAst>
  readonly headersSchema: Option.Option<HasAst>
  readonly urlParamsSchema: Option.Option<HasAst>
  readonly successSchema: Schema.Schema.Any
}

type Decode = (input: unknown) => Either.Either<unknown, ParseResult.ParseIssue>

const none = Either.right(undefined)
const nothing: Decode = () => none

const decoderOf = (schema: Option.Option<HasAst>): Decode =>
  Option.match(schema, {
    onNone: () => nothing,
    onSome: ({ ast }) => ParseResult.decodeUnknownEither(Schema.make<unknown, unknown>(ast))
  })

const refuse = (issue: ParseResult.ParseIssue) =>
  HttpApiError.HttpApiDecodeError.refailParseError(ParseResult.parseError(issue))

/**
 * A call of the contract as a route: who asks, then the path, the body, headers and query, each decoded by its schema; then
 * the handler, and its answer encoded. Everything but the body and the handler happens at once, without a step of the
 * fiber for each: the toolkit's own way to serve a contract costs several times what the call itself does.
 */
export const routeOf = (
  endpoint: Endpoint,
  middleware: ReadonlySet<HttpApiMiddleware.TagClassAny>,
  annotations: Context.Context<never>,
  handle: Handle,
  { authenticate }: Authenticator
) => {
  const limit = Option.getOrElse(Context.getOption(annotations, BodyLimit), () => defaultBodyLimit)
  const decodePath = decoderOf(endpoint.pathSchema)
  const decodePayload = decoderOf(endpoint.payloadSchema)
  const decodeHeaders = decoderOf(endpoint.headersSchema)
  const decodeUrlParams = decoderOf(endpoint.urlParamsSchema)
  const encode = answering(endpoint.successSchema)
  const answer = (value: unknown) => Either.mapLeft(encode(value), (issue) => new UnfitAnswer({ issue }))

  const call = Effect.contextWithEffect(
    (
      context: Context.Context<
        HttpServerRequest.HttpServerRequest | HttpServerRequest.ParsedSearchParams | HttpRouter.RouteContext
      >
    ) => {
      const request = Context.get(context, HttpServerRequest.HttpServerRequest)
      const path = decodePath(Context.get(context, HttpRouter.RouteContext).params)
      if (Either.isLeft(path)) return refuse(path.left)
      const withPayload = (payload: unknown) => {
        const headers = decodeHeaders(request.headers)
        if (Either.isLeft(headers)) return refuse(headers.left)
        const urlParams = decodeUrlParams(Context.get(context, HttpServerRequest.ParsedSearchParams))
        if (Either.isLeft(urlParams)) return refuse(urlParams.left)
        const decoded = { request, path: path.right, payload, headers: headers.right, urlParams: urlParams.right }
        return Effect.flatMap(handle(decoded), answer)
      }
      if (Option.isNone(endpoint.payloadSchema)) return withPayload(undefined)
      return Effect.flatMap(readBody(toIncomingMessage(request), limit), (body) => {
        const payload = decodePayload(body)
        return Either.isLeft(payload) ? refuse(payload.left) : withPayload(payload.right)
      })
    }
  )
  const restricted = [...middleware].some(({ key }) => key === Authentication.key)
    ? Effect.flatMap(authenticate, (actor) => Effect.provideService(call, CurrentActor, actor))
    : call
  const noted = Effect.flatMap(RequestInfo, (info) => {
    info.route = endpoint.path
    return restricted
  })
  return HttpRouter.makeRoute(endpoint.method, endpoint.path, noted)
}
