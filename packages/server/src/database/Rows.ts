import { Option, Predicate, Schema, SchemaAST } from "effect"

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
export const fits = <A, I>(row: Schema.Schema<A, I>): ((value: unknown) => value is A) => {
  const columns = SchemaAST.getPropertySignatures(SchemaAST.typeAST(row.ast)).map(({ name, type }) => ({
    name,
    check: checkOf(type)
  }))
  return (value): value is A =>
    Predicate.isObject(value) &&
    columns.every(({ check, name }) => Predicate.hasProperty(value, name) && check(value[name]))
}

/** All rows of an answer as their schema's type; none where one does not fit. */
export const rowsThatFit = <A, I>(row: Schema.Schema<A, I>) => {
  const isRow = fits(row)
  const areRows = (found: ReadonlyArray<unknown>): found is ReadonlyArray<A> => found.every(isRow)
  return (found: ReadonlyArray<unknown>): ReadonlyArray<A> | undefined => (areRows(found) ? found : undefined)
}

/** Runs a statement of some connection at once. Throws what the driver does. */
type Run<Parameter> = (text: string, parameters: ReadonlyArray<Parameter>) => ReadonlyArray<unknown>

/**
 * Rows of one statement, at once, for use inside a step of an effect. A failure, or a row that does not fit, is thrown and so a
 * defect: nobody but this program writes them.
 */
export const rowsBy =
  <Parameter>(run: Run<Parameter>) =>
  <A, I>(row: Schema.Schema<A, I>) => {
    const fitting = rowsThatFit(row)
    return (statement: string, parameters: ReadonlyArray<Parameter>): ReadonlyArray<A> =>
      Option.getOrThrowWith(
        Option.fromNullable(fitting(run(statement, parameters))),
        () => new Error("a row does not fit its schema")
      )
  }
