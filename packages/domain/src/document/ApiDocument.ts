import { OpenApi } from "@effect/platform"
import { Api } from "../Api.js"
import { headers } from "./Errors.js"
import { parameters } from "./Fields.js"
import { find, mapNode, type Node, nodeOf, nodesOf, textOf } from "./Nodes.js"
import { type OperationText, operationTexts } from "./Operations.js"
import { codeOf, describeAnswer, describeComponents, describeRequest } from "./Schemas.js"

const header = (name: keyof typeof headers) => ({ $ref: `#/components/headers/${name}` })

const headersOf = (status: string, operationId: string): Node => ({
  "X-Request-Id": header("RequestId"),
  ...(operationId.endsWith("undle") && (status === "200" || status === "304") && { ETag: header("ETag") }),
  ...(status === "401" && { "WWW-Authenticate": header("Challenge") }),
  ...(status === "405" && { Allow: header("Allow") }),
  ...(status === "429" && { "Retry-After": header("RetryAfter") })
})

/** Joins the descriptions of all errors with this status. */
const describeErrors = (content: unknown, components: unknown): string | undefined => {
  const schema = nodeOf(find(content, "application/json", "schema"))
  const named = schema["anyOf"] === undefined ? [schema] : nodesOf(schema["anyOf"])
  const sentences = named.flatMap((node) => {
    const error = find(components, textOf(node["$ref"])?.split("/").at(-1) ?? "")
    const description = textOf(find(error, "description"))
    return description === undefined ? [] : [`${codeOf(error) ?? "An error"}: ${description}`]
  })
  return sentences.length === 0 ? undefined : sentences.join(". ")
}

const describeParameter = (parameter: Node, id: string): Node => {
  const name = textOf(parameter["name"]) ?? ""
  const known = parameters[`${id}.${name}`] ?? parameters[name]
  if (known === undefined) return parameter
  const schema = nodeOf(parameter["schema"])
  const isNumber = schema["type"] === "integer"
  return {
    ...parameter,
    description: known.description,
    example: isNumber ? Number(known.example) : known.example
  }
}

const withExample = (media: unknown, schema: unknown, example: unknown): Node =>
  mapNode(media, (content) => ({ ...nodeOf(content), schema, ...(example !== undefined && { example }) }))

const describeOperation = (operation: Node, components: unknown): Node => {
  const id = textOf(operation["operationId"]) ?? ""
  const texts: OperationText = operationTexts[id] ?? { answers: {} }
  const answer = describeAnswer(components)
  const media = find(operation, "requestBody", "content")
  const request = find(media, "application/json", "schema")
  return {
    ...operation,
    ...(texts.description !== undefined && { description: texts.description }),
    parameters: nodesOf(operation["parameters"]).map((parameter) => describeParameter(parameter, id)),
    ...(request !== undefined && {
      requestBody: {
        ...nodeOf(operation["requestBody"]),
        content: withExample(media, describeRequest(request, id), texts.request)
      }
    }),
    responses: mapNode(operation["responses"], (response, status) => {
      const content = nodeOf(response)["content"]
      const known = texts.answers[Number(status)]
      const schema = find(content, Object.keys(nodeOf(content))[0] ?? "", "schema")
      return {
        ...nodeOf(response),
        description: known?.description ?? describeErrors(content, components) ?? nodeOf(response)["description"],
        headers: headersOf(status, id),
        ...(content !== undefined && { content: withExample(content, answer(schema), known?.example) })
      }
    })
  }
}

/**
 * Builds the contract as an OpenAPI 3.1 document with descriptions and examples. It runs when the programs are built; the
 * clients never load this module.
 */
export const apiDocument = (): Node => {
  const document = nodeOf(OpenApi.fromApi(Api))
  const components = nodeOf(document["components"])
  const schemas = components["schemas"]
  return {
    ...document,
    paths: mapNode(document["paths"], (item) =>
      mapNode(item, (operation) => describeOperation(nodeOf(operation), schemas))
    ),
    components: { ...components, schemas: describeComponents(schemas), headers }
  }
}
