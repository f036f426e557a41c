import { Api } from "@coffer/domain/Api"
import { AskingHeaders, mayNeedVotes } from "@coffer/domain/api/AskingHeaders"
import { Polled } from "@coffer/domain/api/Requirement"
import { responseOf, SendsETag } from "@coffer/domain/api/Response"
import * as HttpApi from "@effect/platform/HttpApi"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Context from "effect/Context"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as SchemaAST from "effect/SchemaAST"
import { exampleOf, exampleOfField } from "./Examples.js"
import { find, mapNode, type Node, nodeOf, nodesOf, rewrite, textOf } from "./JsonNodes.js"

const header = (description: string, example: string) => ({ description, schema: { type: "string" }, example })

/** Response headers, as components of the document. */
const headers = {
  RequestId: header("the id of the request in the server's log", "0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e"),
  ETag: header("the state of the environment, for If-Match and If-None-Match; opaque", '"Zk3n0fQxk8vR7yB2mJtW5cLsEaH"'),
  PolledETag: header(
    "the response, for If-None-Match: 304 while it has not changed; absent from responses above 128 KiB; opaque",
    '"b7Jq2xT0mVd5Rk1yHs8wLeNfUcP"'
  ),
  RetryAfter: header("how long to wait, in whole seconds", "600"),
  Allow: header("the methods of the path", "GET, HEAD"),
  Challenge: header("the required credential", 'Bearer realm="coffer"')
}

const reference = (name: keyof typeof headers) => ({ $ref: `#/components/headers/${name}` })

const headersOf = (status: string, tag: "ETag" | "PolledETag" | null): Node => ({
  "X-Request-Id": reference("RequestId"),
  ...(tag !== null && (status === "200" || status === "304") && { ETag: reference(tag) }),
  ...(status === "401" && { "WWW-Authenticate": reference("Challenge") }),
  ...(status === "405" && { Allow: reference("Allow") }),
  ...(status === "429" && { "Retry-After": reference("RetryAfter") })
})

interface Described {
  readonly ast: SchemaAST.AST
}

interface Endpoint {
  readonly annotations: Context.Context<never>
  readonly pathSchema: Option.Option<Described>
  readonly urlParamsSchema: Option.Option<Described>
  readonly headersSchema: Option.Option<Described>
  readonly errorSchema: Described
  readonly payloadSchema: Option.Option<Described>
  readonly successSchema: Described
}

const endpoints = (): ReadonlyMap<string, Endpoint> => {
  const found = new Map<string, Endpoint>()
  HttpApi.reflect(Api, {
    onGroup: () => undefined,
    onEndpoint: ({ endpoint, group }) => void found.set(`${group.identifier}.${endpoint.name}`, endpoint)
  })
  return found
}

const fieldsOf = (ast: SchemaAST.AST): ReadonlyArray<SchemaAST.PropertySignature> => {
  const struct = SchemaAST.isRefinement(ast) ? ast.from : ast
  return SchemaAST.isTypeLiteral(struct) ? struct.propertySignatures : []
}

const descriptionOf = (part: SchemaAST.Annotated): string | undefined =>
  Option.getOrUndefined(SchemaAST.getDescriptionAnnotation(part))

const askingHeaders = fieldsOf(AskingHeaders.ast).map((field): Node => ({
  name: field.name,
  in: "header",
  required: false,
  schema: { type: "string" },
  description: descriptionOf(field),
  example: exampleOfField(field)
}))

/** Parameters have the descriptions and examples of their fields, else those of their schemas. */
const describeParameters = (parameters: unknown, endpoint: Endpoint): ReadonlyArray<Node> => {
  const schemas = [endpoint.pathSchema, endpoint.urlParamsSchema, endpoint.headersSchema]
  const fields = schemas.flatMap(Option.toArray).flatMap(({ ast }) => fieldsOf(ast))
  return nodesOf(parameters).map((parameter) => {
    const field = fields.find(({ name }) => name === parameter["name"])
    const { description: _, examples: __, ...schema } = nodeOf(parameter["schema"])
    const example = field && exampleOfField(field)
    return {
      ...parameter,
      schema,
      description: field && (descriptionOf(field) ?? descriptionOf(field.type)),
      example: schema["type"] === "integer" ? Number(example) : example
    }
  })
}

const withExample = (content: unknown, example: unknown): Node =>
  mapNode(content, (media) => ({ ...nodeOf(media), ...(example !== undefined && { example }) }))

/** The responses of an endpoint, by status. Of several forms of a response, the first gives the example. */
const answersOf = (endpoint: Endpoint): Node => {
  const { ast } = endpoint.successSchema
  const schemas = SchemaAST.isUnion(ast) && Option.isNone(responseOf(ast)) ? ast.types : [ast]
  const answers: Record<number, Node> = {}
  for (const schema of schemas) {
    const { description, example } = Option.getOrThrow(responseOf(schema))
    const status = HttpApiSchema.getStatusSuccessAST(schema)
    const first = answers[status]
    if (first === undefined) {
      const whole = exampleOf(schema)
      answers[status] = { description, example: Predicate.isRecord(whole) ? { ...whole, ...example } : whole }
    } else {
      answers[status] = { ...first, description: `${textOf(first["description"])}. ${description}` }
    }
  }
  return answers
}

/** Joins the descriptions of all errors in a response. */
const describeErrors = (content: unknown, schemas: unknown): string => {
  const schema = nodeOf(find(content, "application/json", "schema"))
  return (schema["anyOf"] === undefined ? [schema] : nodesOf(schema["anyOf"]))
    .map((named) => nodeOf(find(schemas, textOf(named["$ref"])?.split("/").at(-1) ?? "")))
    .map(({ description, examples }) => {
      // A change that waits for votes has no envelope.
      const code = textOf(find(nodesOf(examples)[0], "error", "code"))
      return code === undefined ? textOf(description) : `${code}: ${textOf(description)}`
    })
    .join(". ")
}

const describeOperation = (operation: Node, endpoint: Endpoint, schemas: unknown): Node => {
  const body = nodeOf(operation["requestBody"])
  const request = Option.map(endpoint.payloadSchema, ({ ast }) => exampleOf(ast))
  const answers = answersOf(endpoint)
  const sendsETag = Context.getOrElse(endpoint.annotations, SendsETag, () => false)
  const isPolled = Context.getOrElse(endpoint.annotations, Polled, () => false)
  const tag = sendsETag ? "ETag" : isPolled ? "PolledETag" : null
  return {
    ...operation,
    parameters: [
      ...describeParameters(operation["parameters"], endpoint),
      ...(mayNeedVotes(endpoint) ? askingHeaders : [])
    ],
    ...(Option.isSome(request) && { requestBody: { ...body, content: withExample(body["content"], request.value) } }),
    responses: mapNode(operation["responses"], (node, status) => {
      const response = nodeOf(node)
      const known = nodeOf(answers[status])
      return {
        ...response,
        description: known["description"] ?? describeErrors(response["content"], schemas),
        headers: headersOf(status, tag),
        ...(response["content"] !== undefined && {
          content: withExample(withAdditionalFields(response["content"]), known["example"])
        })
      }
    })
  }
}

/** Allows additional fields in responses, which may grow. Only request bodies reject them. */
const withAdditionalFields = (schema: unknown): unknown =>
  rewrite(schema, ({ additionalProperties, ...node }) =>
    additionalProperties === undefined || additionalProperties === false ? node : { ...node, additionalProperties }
  )

/** OpenAPI 3.1 allows a description beside a reference. */
const withoutWrappers = (document: unknown): Node =>
  nodeOf(
    rewrite(document, ({ allOf, ...node }) => {
      const [only, ...others] = nodesOf(allOf)
      if (only === undefined) return node
      return only["$ref"] !== undefined && others.length === 0 ? { ...only, ...node } : { allOf, ...node }
    })
  )

/**
 * Builds the contract as an OpenAPI 3.1 document with descriptions and examples. It runs when the programs are built; no
 * program loads this module.
 */
export const apiDocument = (): Node => {
  const document = withoutWrappers(OpenApi.fromApi(Api))
  const components = nodeOf(document["components"])
  const schemas = nodeOf(withAdditionalFields(components["schemas"]))
  const known = endpoints()
  return {
    ...document,
    paths: mapNode(document["paths"], (item) =>
      mapNode(item, (node) => {
        const operation = nodeOf(node)
        const endpoint = known.get(textOf(operation["operationId"]) ?? "")
        return endpoint === undefined ? operation : describeOperation(operation, endpoint, schemas)
      })
    ),
    components: { ...components, schemas, headers }
  }
}
