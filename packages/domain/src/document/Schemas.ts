import { messages } from "./Errors.js"
import { fields } from "./Fields.js"
import { named } from "./Named.js"
import { find, mapNode, nodeOf, rewrite, textOf, type Node } from "./Nodes.js"

/** The code of an error's schema; nothing for other schemas. */
export const codeOf = (schema: unknown): string | undefined => {
  const codes = find(schema, "properties", "error", "properties", "code", "enum")
  return Array.isArray(codes) ? textOf(codes[0]) : undefined
}

/** Every field with its description: the one for its schema, its own, or the one for its name. */
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

/** Answers may get more fields one day: only bodies of requests are closed. */
const opened = (schema: unknown): unknown =>
  rewrite(schema, ({ additionalProperties, ...node }) =>
    additionalProperties === undefined || additionalProperties === false ? node : { ...node, additionalProperties }
  )

/** The document's named schemas, described. */
export const describeComponents = (schemas: unknown): Node =>
  mapNode(schemas, (schema, name) => ({
    ...(named[name] !== undefined && { description: named[name] }),
    ...withExample(nodeOf(opened(withFields(schema, name))))
  }))

/** The schema of a call's body, described. */
export const describeRequest = (schema: unknown, call: string): unknown => withFields(schema, call)

/** An answer's schema, described; by its name where it is one of the named ones. */
export const describeAnswer = (components: unknown) => {
  const names = new Map(Object.entries(nodeOf(components)).map(([name, schema]) => [JSON.stringify(schema), name]))
  return (schema: unknown): unknown => {
    const name = names.get(JSON.stringify(schema))
    return name === undefined ? opened(withFields(schema, "")) : { $ref: `#/components/schemas/${name}` }
  }
}
