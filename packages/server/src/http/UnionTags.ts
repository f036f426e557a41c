import * as Predicate from "effect/Predicate"
import * as SchemaAST from "effect/SchemaAST"

/** Returns a value without the objects at places where the toolkit would convert them to text. */
type Clean = (value: unknown) => unknown

const literalFields = (member: SchemaAST.AST): ReadonlyArray<PropertyKey> =>
  SchemaAST.getPropertySignatures(member)
    .filter(({ type }) => SchemaAST.isLiteral(type))
    .map(({ name }) => name)

const replaced = (value: unknown, name: PropertyKey, clean: Clean): unknown => {
  if (!Predicate.hasProperty(value, name) || !Object.hasOwn(value, name)) return value
  const cleaned = clean(value[name])
  return cleaned === value[name] ? value : { ...value, [name]: cleaned }
}

const noObject: Clean = (value) => (Predicate.isObject(value) ? null : value)

const cleanersOf = (ast: SchemaAST.AST): ReadonlyArray<Clean> => {
  if (SchemaAST.isUnion(ast)) {
    const tags = new Set(ast.types.flatMap(literalFields))
    return [
      ...[...tags].map(
        (tag): Clean =>
          (value) =>
            replaced(value, tag, noObject)
      ),
      ...ast.types.flatMap(cleanersOf)
    ]
  }
  if (SchemaAST.isTypeLiteral(ast)) {
    return ast.propertySignatures.flatMap(({ name, type }) =>
      cleanersOf(type).map(
        (clean): Clean =>
          (value) =>
            replaced(value, name, clean)
      )
    )
  }
  if (SchemaAST.isTupleType(ast)) {
    return ast.rest.flatMap(({ type }) =>
      cleanersOf(type).map(
        (clean): Clean =>
          (value) =>
            Array.isArray(value) ? value.map(clean) : value
      )
    )
  }
  return []
}

/**
 * Tells the members of a union apart by a literal field: the toolkit converts its value to text, which throws for an object such
 * as `{"toString":1}`. Replaces such an object by null, which is no member's literal, so the body is refused like any other.
 */
export const withPlainTags = (payload: SchemaAST.AST): Clean => {
  const cleaners = cleanersOf(SchemaAST.encodedAST(payload))
  return (body) => cleaners.reduce((value, clean) => clean(value), body)
}
