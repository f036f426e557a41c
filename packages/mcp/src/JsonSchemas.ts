import * as JSONSchema from "effect/JSONSchema"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import type * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"

type Json = boolean | null | number | string | Array<Json> | JsonObject

interface JsonObject {
  [name: string]: Json
}

/** A schema of JSON as the protocol wants it: an object at the root. */
export interface ObjectSchema {
  readonly [keyword: string]: Json
  readonly type: "object"
  readonly properties: Record<string, JsonObject>
  readonly required: Array<string>
}

type Node = Readonly<Record<string, unknown>>

const objectOf = (node: unknown): object => (Predicate.isObject(node) ? node : {})

const isScalar = (node: unknown): node is boolean | number | string =>
  Predicate.isBoolean(node) || Predicate.isNumber(node) || Predicate.isString(node)

const make = (schema: Schema.Schema.Any, reduce: (node: Node) => Node): ObjectSchema => {
  const definitions: Record<string, JSONSchema.JsonSchema7> = {}
  const root = JSONSchema.fromAST(schema.ast, { definitions, topLevelReferenceStrategy: "skip" })

  // Many hosts do not resolve references, so they are inlined. No schema is recursive.
  const inPlace = (node: unknown): Json => {
    if (Array.isArray(node)) return node.map(inPlace)
    if (Predicate.isRecord(node)) return schemaOf(node)
    return isScalar(node) ? node : null
  }
  const schemaOf = (node: Node): JsonObject => {
    const { $ref, allOf, ...rest } = node
    if (typeof $ref === "string") return schemaOf({ ...definitions[$ref.replace("#/$defs/", "")], ...rest })
    // A field that has its own description, and a named schema.
    if (Array.isArray(allOf)) return schemaOf({ ...objectOf(allOf[0]), ...rest })
    return Record.map(reduce(rest), (value, keyword) =>
      // The keys of `properties` are field names, not keywords.
      keyword === "properties" && Predicate.isRecord(value) ? Record.map(value, inPlace) : inPlace(value)
    )
  }

  const properties = "properties" in root ? root.properties : {}
  return {
    type: "object",
    properties: Record.map(properties, (property) => schemaOf({ ...property })),
    required: "required" in root ? root.required : []
  }
}

const pick = (keywords: ReadonlyArray<string>) => {
  const wanted = new Set(keywords)
  return (node: Node): Node => Record.filter(node, (_, keyword) => wanted.has(keyword))
}

const shape = ["type", "properties", "items", "anyOf"]

const descriptionOf = (ast: SchemaAST.AST): string | undefined =>
  Option.getOrUndefined(SchemaAST.getDescriptionAnnotation(ast)) ??
  (SchemaAST.isTransformation(ast) ? descriptionOf(ast.from) : undefined)

/** Adds the descriptions of the fields. `JSONSchema` prefers those of inner refinements, which describe a pattern. */
const describe = (schema: Schema.Schema.Any, properties: ObjectSchema["properties"]) => {
  const signatures = SchemaAST.isTypeLiteral(schema.ast) ? schema.ast.propertySignatures : []
  const descriptions = new Map(
    signatures.map((signature) => [
      signature.name,
      Option.getOrUndefined(SchemaAST.getDescriptionAnnotation(signature)) ?? descriptionOf(signature.type)
    ])
  )
  return Record.map(properties, (property, name): JsonObject => {
    const description = descriptions.get(name)
    return description === undefined ? property : { ...property, description }
  })
}

/**
 * The input schema of a tool, for a model to read: every host sends it along with each question, so it holds no pattern and
 * no example. The program checks the parameters by the schemas of the contract, and its messages give the rule.
 */
export const inputSchema = (schema: Schema.Schema.Any): ObjectSchema => {
  const made = make(schema, pick([...shape, "description", "enum", "minimum", "maximum", "maxItems"]))
  return { ...made, properties: describe(schema, made.properties), additionalProperties: false }
}

/**
 * The output schema of a tool: the types of the fields alone. Hosts discard results that do not fit, so it must hold for
 * those of a newer server too, which may have other words, other formats and more fields.
 */
export const outputSchema = (schema: Schema.Schema.Any): ObjectSchema => make(schema, pick(shape))
