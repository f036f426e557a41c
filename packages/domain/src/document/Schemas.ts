import { messages } from "./Errors.js"
import { fields } from "./Fields.js"
import { named } from "./Named.js"
import { find, mapNode, nodeOf, rewrite, textOf, type Node } from "./Nodes.js"

/** Returns the error code of an error's schema; undefined for other schemas. */
export const codeOf = (schema: unknown): string | undefined => {
  const codes = find(schema, "properties", "error", "properties", "code", "enum")
  return Array.isArray(codes) ? textOf(codes[0]) : undefined
}

/** Describes every field. Precedence: `fields["Schema.field"]`, the schema's own description, `fields["field"]`. */
const withFields = (schema: unknown, owner: string): unknown =>
  rewrite(schema, (node) =>
    node["properties"] === undefined
      ? node
      : {
          ...node,
          properties: mapNode(node["properties"], (field, name) => {
            const description = fields[`${owner}.${name}`] ?? nodeOf(field)["description"] ?? fields[name]
            return description === undefined ? field : { ...nodeOf(field), description }
          })
        }
  )

const withExample = (schema: Node): Node => {
  const code = codeOf(schema)
  const message = Object.entries(messages).find(([known]) => known === code)?.[1]
  return message === undefined ? schema : { ...schema, examples: [{ error: { code, message } }] }
}

/** Allows additional fields in responses, which may grow. Only request bodies reject them. */
const withAdditionalFields = (schema: unknown): unknown =>
  rewrite(schema, ({ additionalProperties, ...node }) =>
    additionalProperties === undefined || additionalProperties === false ? node : { ...node, additionalProperties }
  )

/** Describes the named schemas of the document. */
export const describeComponents = (schemas: unknown): Node =>
  mapNode(schemas, (schema, name) => ({
    ...(named[name] !== undefined && { description: named[name] }),
    ...withExample(nodeOf(withAdditionalFields(withFields(schema, name))))
  }))

/** Describes the schema of a request body. */
export const describeRequest = (schema: unknown, call: string): unknown => withFields(schema, call)

/** Returns a function that describes a response's schema, or replaces a named schema by its reference. */
export const describeAnswer = (components: unknown) => {
  const names = new Map(Object.entries(nodeOf(components)).map(([name, schema]) => [JSON.stringify(schema), name]))
  return (schema: unknown): unknown => {
    const name = names.get(JSON.stringify(schema))
    return name === undefined ? withAdditionalFields(withFields(schema, "")) : { $ref: `#/components/schemas/${name}` }
  }
}
