import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"

/** Returns the examples that an annotation gives, encoded by the schema. */
const annotated = (part: SchemaAST.Annotated, schema: SchemaAST.AST): ReadonlyArray<unknown> =>
  Option.getOrElse(SchemaAST.getExamplesAnnotation(part), () => []).map(
    Schema.encodeUnknownSync(Schema.make<unknown>(schema))
  )

/** Composes a record of its fields. An optional field without an example is left out. */
const composed = (fields: ReadonlyArray<SchemaAST.PropertySignature>): ReadonlyArray<unknown> => {
  const examples = fields.map((field) => {
    const { isOptional, name } = field
    return { example: exampleOfField(field), isOptional, name }
  })
  if (examples.some(({ example, isOptional }) => example === undefined && !isOptional)) return []
  const present = examples.filter(({ example }) => example !== undefined)
  return [Object.fromEntries(present.map(({ example, name }) => [name, example]))]
}

/** Returns the examples of a schema, encoded: its own, else those composed of its parts. */
const examplesOf = (ast: SchemaAST.AST): ReadonlyArray<unknown> => {
  const own = annotated(ast, ast)
  if (own.length > 0) return own
  switch (ast._tag) {
    case "Literal":
      return [ast.literal]
    case "Refinement":
    case "Transformation":
      return examplesOf(ast.from)
    case "Union":
      return ast.types.map(examplesOf).find((examples) => examples.length > 0) ?? []
    case "TupleType": {
      const items = ast.rest.flatMap(({ type }) => examplesOf(type))
      return items.length === 0 ? [] : [items]
    }
    case "TypeLiteral":
      return composed(ast.propertySignatures)
    default:
      return []
  }
}

/** Returns the first example of a schema, encoded; undefined if there is none. */
export const exampleOf = (ast: SchemaAST.AST): unknown => examplesOf(ast)[0]

/** Returns the example of a field: its own, else that of its schema. */
export const exampleOfField = (field: SchemaAST.PropertySignature): unknown => {
  const own = annotated(field, field.type)
  return own.length > 0 ? own[0] : exampleOf(field.type)
}
