import { Effect, Predicate, Schema, SchemaAST } from "effect"

type Check = (value: unknown) => boolean

const bytes = Schema.Uint8ArrayFromSelf.ast

/** A column's check, by its kind alone: what refines text or numbers held when it was written, and tables are STRICT. */
const checkOf = (ast: SchemaAST.AST): Check => {
  switch (ast._tag) {
    case "Refinement":
      return checkOf(ast.from)
    case "Union": {
      const checks = ast.types.map(checkOf)
      return (value) => checks.some((check) => check(value))
    }
    case "Literal":
      return (value) => value === ast.literal
    case "StringKeyword":
      return Predicate.isString
    case "NumberKeyword":
      return Predicate.isNumber
    default:
      return ast === bytes ? Predicate.isUint8Array : Schema.is(Schema.make(ast))
  }
}

/**
 * Whether a row has the columns of a struct, each of its kind. Far cheaper than decoding: only this program writes rows, and
 * it has checked what it writes.
 */
const fits = <A, I>(row: Schema.Schema<A, I>): ((value: unknown) => value is A) => {
  const columns = SchemaAST.getPropertySignatures(SchemaAST.typeAST(row.ast)).map(({ name, type }) => ({
    name,
    check: checkOf(type)
  }))
  return (value): value is A =>
    Predicate.isObject(value) &&
    columns.every(({ check, name }) => Predicate.hasProperty(value, name) && check(value[name]))
}

/** The rows of an answer as their schema's type. One that does not fit is a defect: nobody but this program writes them. */
export const rowsOf = <A, I>(row: Schema.Schema<A, I>) => {
  const isRow = fits(row)
  const areRows = (found: ReadonlyArray<unknown>): found is ReadonlyArray<A> => found.every(isRow)
  return (found: ReadonlyArray<unknown>): Effect.Effect<ReadonlyArray<A>> =>
    areRows(found) ? Effect.succeed(found) : Effect.dieMessage("a row does not fit its schema")
}
