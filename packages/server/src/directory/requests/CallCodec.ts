import { Api } from "@coffer/domain/Api"
import { endpointsOf } from "@coffer/domain/api/Endpoints"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"

/** The parts of a request that its call gets, by the schemas of its endpoint. */
export interface CallRequest {
  readonly path?: unknown
  readonly urlParams?: unknown
  readonly headers?: unknown
  readonly payload?: unknown
}

interface Encoded {
  readonly path?: unknown
  readonly urlParams?: unknown
  readonly headers?: unknown
  readonly payload?: unknown
}

/** A schema of the contract, of which only the AST is known. */
const opened = (schema: Option.Option<Schema.Schema.All>) =>
  Option.match(schema, {
    onNone: () => Schema.Unknown,
    onSome: ({ ast }) => Schema.make<unknown, unknown>(ast)
  })

const part = (schema: Option.Option<Schema.Schema.All>) => Schema.optionalWith(opened(schema), { exact: true })

const endpoints = new Map(endpointsOf(Api).map(({ endpoint, name }) => [name, endpoint]))
const schemas = new Map<string, Schema.Schema<CallRequest, Encoded>>()

/** The schema of a call's request, made when it is first needed; undefined if the contract has no such call. */
const schemaFor = (call: string): Schema.Schema<CallRequest, Encoded> | undefined => {
  const known = schemas.get(call)
  const endpoint = endpoints.get(call)
  if (known !== undefined || endpoint === undefined) return known
  const made = Schema.Struct({
    path: part(endpoint.pathSchema),
    urlParams: part(endpoint.urlParamsSchema),
    headers: part(endpoint.headersSchema),
    payload: part(endpoint.payloadSchema)
  })
  schemas.set(call, made)
  return made
}

const schemaOf = (call: string) =>
  Effect.suspend(() => {
    const schema = schemaFor(call)
    return schema === undefined ? Effect.dieMessage(`${call} is no call of the contract`) : Effect.succeed(schema)
  })

/** The request of a call as JSON. It came through the same schemas, so it has a form. */
export const encodeCall = (call: string, { headers, path, payload, urlParams }: CallRequest): Effect.Effect<Encoded> =>
  Effect.flatMap(schemaOf(call), (schema) =>
    Effect.orDie(
      Schema.encode(schema)({
        ...(path !== undefined && { path }),
        ...(urlParams !== undefined && { urlParams }),
        ...(headers !== undefined && { headers }),
        ...(payload !== undefined && { payload })
      })
    )
  )

/** The request of a call from its JSON. Null if another version of the contract made it, which this one does not read as a whole. */
export const decodeCall = (call: string, json: unknown): Effect.Effect<CallRequest | null> =>
  Effect.flatMap(schemaOf(call), (schema) =>
    Effect.map(Effect.option(Schema.decodeUnknown(schema, { onExcessProperty: "error" })(json)), Option.getOrNull)
  )

/** The JSON of a value in pieces, each made when it is asked for: a large call is never written in one piece. */
export function* jsonPieces(value: unknown, depth = 3): Generator<string> {
  if (depth === 0 || typeof value !== "object" || value === null || Array.isArray(value)) {
    yield JSON.stringify(value)
    return
  }
  let before = "{"
  for (const [name, field] of Object.entries(value)) {
    yield `${before}${JSON.stringify(name)}:`
    yield* jsonPieces(field, depth - 1)
    before = ","
  }
  yield before === "{" ? "{}" : "}"
}
