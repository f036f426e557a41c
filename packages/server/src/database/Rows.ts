import * as Exit from "effect/Exit"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"

type Check = (value: unknown) => boolean

const bytes = Schema.Uint8ArrayFromSelf.ast

/** The type check of a column. Refinements are not checked again: values met them when they were written. */
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

/** The names of a row's columns. */
export const columnsOf = <A, I>(row: Schema.Schema<A, I>): ReadonlyArray<string> =>
  SchemaAST.getPropertySignatures(SchemaAST.typeAST(row.ast)).map(({ name }) => String(name))

/**
 * Checks that a row has every column of the struct, with the right type. Decoding would cost far more, and only this
 * program writes rows.
 */
const fits = <A, I>(row: Schema.Schema<A, I>): ((value: unknown) => value is A) => {
  const columns = SchemaAST.getPropertySignatures(SchemaAST.typeAST(row.ast)).map(({ name, type }) => ({
    name,
    check: checkOf(type)
  }))
  return (value): value is A => {
    if (!Predicate.isRecord(value)) return false
    for (const { check, name } of columns) if (!(name in value) || !check(value[name])) return false
    return true
  }
}

/** Returns rows as the type of their schema. A row that does not match is a defect: only this program writes rows. */
export const rowsOf = <A, I>(row: Schema.Schema<A, I>) => {
  const isRow = fits(row)
  const areRows = (found: unknown): found is ReadonlyArray<A> => Array.isArray(found) && found.every(isRow)
  return (found: unknown): Exit.Exit<ReadonlyArray<A>> =>
    areRows(found) ? Exit.succeed(found) : Exit.die(new Error("a row does not fit its schema"))
}

/** A row of a `count`. */
export const CountRow = Schema.Struct({ count: Schema.Number })

/** A row of an id that only SQL compares. */
export const IdRow = Schema.Struct({ id: Schema.String })

/** A row of an id of a kind. */
export const idRow = <Id extends string>(id: Schema.Schema<Id, string>) => Schema.Struct({ id })
