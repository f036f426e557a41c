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

  // Many hosts do not resolve references, so they are inlined. No schema is recursive.
  const inPlace = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(inPlace)
    if (!Predicate.isRecord(node)) return node
    const { $ref, title: _, ...rest } = node
    if (typeof $ref === "string") return inPlace({ ...definitions[$ref.replace("#/$defs/", "")], ...rest })
    return Record.map(rewrite(rest), (value, keyword) =>
      // The keys of `properties` are field names, not keywords.
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

/** The input schema of a tool. */
export const inputSchema = (schema: Schema.Schema.Any): ObjectSchema => make(schema, (node) => node)

/**
 * The output schema of a tool. Hosts discard results that do not fit, so it has no enum and no `format`: a newer server may
 * send other values, and hosts differ in how they check formats (some require a dot in an e-mail address).
 */
export const outputSchema = (schema: Schema.Schema.Any): ObjectSchema =>
  make(schema, ({ enum: words, format: _, ...node }) =>
    Array.isArray(words) && words.length > 1
      ? { ...node, examples: words }
      : { ...node, ...(words !== undefined && { enum: words }) }
  )
