import { JSONSchema, Predicate, Record, type Schema } from "effect"

/** A schema of JSON as the protocol wants it: an object at the root. */
export interface ObjectSchema {
  readonly [keyword: string]: unknown
  readonly type: "object"
  readonly properties: Record<string, object>
  readonly required: Array<string>
}

const objectOf = (node: unknown): object => (Predicate.isObject(node) ? node : {})

type Rewrite = (node: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>

const make = (schema: Schema.Schema.Any, rewrite: Rewrite): ObjectSchema => {
  const definitions: Record<string, JSONSchema.JsonSchema7> = {}
  const root = JSONSchema.fromAST(schema.ast, { definitions, topLevelReferenceStrategy: "skip" })

  // Many hosts do not follow references, so what is referred to is put in its place; no schema refers to itself.
  const inPlace = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(inPlace)
    if (!Predicate.isRecord(node)) return node
    const { $ref, title: _, ...rest } = node
    if (typeof $ref === "string") return inPlace({ ...definitions[$ref.replace("#/$defs/", "")], ...rest })
    return Record.map(rewrite(rest), (value, keyword) =>
      // The names there are fields, not keywords.
      keyword === "properties" && Predicate.isRecord(value) ? Record.map(value, inPlace) : inPlace(value)
    )
  }

  const properties = "properties" in root ? root.properties : {}
  return {
    type: "object",
    properties: Record.map(properties, (property) => objectOf(inPlace(property))),
    required: "required" in root ? root.required : [],
    additionalProperties: false
  }
}

/** What a tool takes. */
export const inputSchema = (schema: Schema.Schema.Any): ObjectSchema => make(schema, (node) => node)

/**
 * What a tool returns. A host throws away an answer that does not fit, so this says no more than what always holds: a newer
 * server may have words that we do not know, and `format` is not read alike everywhere (some want a dot in an address).
 */
export const outputSchema = (schema: Schema.Schema.Any): ObjectSchema =>
  make(schema, ({ enum: words, format: _, ...node }) =>
    Array.isArray(words) && words.length > 1
      ? { ...node, examples: words }
      : { ...node, ...(words !== undefined && { enum: words }) }
  )
