import { type Sql, sql, type Value, type Values } from "./Query.js"

/** Parts of a statement in a row, with a separator between them. */
export const joined = (parts: ReadonlyArray<Sql<string>>, separator: Sql<never>): Sql<string> => {
  const nothing: Sql<string> = sql``
  return parts.reduce((before, part, index) => (index === 0 ? part : sql`${before}${separator}${part}`), nothing)
}

/** The parameters of a list of values, as IN takes it: `name_0, name_1, …`. */
export const listed = (name: string, values: ReadonlyArray<Value>): Sql<string> =>
  joined(
    values.map((_, index) => sql`${`${name}_${index}`}`),
    sql`, `
  )

/** The values of a list's parameters. */
export const valuesOf = (name: string, values: ReadonlyArray<Value>): Values<string> =>
  Object.fromEntries(values.map((value, index) => [`${name}_${index}`, value]))
