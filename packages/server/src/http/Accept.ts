import { Option, Predicate, SchemaAST } from "effect"

type Accept = (value: unknown) => boolean

const struct =
  (
    fields: ReadonlyArray<{ readonly name: PropertyKey; readonly optional: boolean; readonly accept: Accept }>
  ): Accept =>
  (value) => {
    if (!Predicate.isRecord(value)) return false
    let rest = Object.keys(value).length
    for (const { accept, name, optional } of fields) {
      if (!Object.hasOwn(value, name)) {
        if (!optional) return false
      } else if (accept(value[name])) rest--
      else return false
    }
    return rest === 0
  }

/**
 * Whether a value is, as it is, what its schema would decode it to: of the schema's fields and no others, with each rule held.
 * Far cheaper than decoding, which makes it anew. Null where a schema is of a kind that this does not know; what is not
 * accepted is left to the schema, which may take it all the same, and tells what is wrong with it.
 */
export const accepting = (ast: SchemaAST.AST): Accept | null => {
  switch (ast._tag) {
    case "StringKeyword":
      return Predicate.isString
    case "Refinement": {
      const accept = accepting(ast.from)
      return accept === null
        ? null
        : (value) => accept(value) && Option.isNone(ast.filter(value, SchemaAST.defaultParseOption, ast))
    }
    case "TypeLiteral": {
      if (ast.indexSignatures.length > 0) return null
      const fields = ast.propertySignatures.map(({ isOptional, name, type }) => ({
        name,
        optional: isOptional,
        accept: accepting(type)
      }))
      const known = fields.flatMap(({ accept, name, optional }) =>
        accept === null ? (optional ? [{ name, optional, accept: () => false }] : []) : [{ name, optional, accept }]
      )
      return known.length === fields.length ? struct(known) : null
    }
    default:
      return null
  }
}
