import { joined, type Sql, sql, type Value, type Values } from "./Query.js"

/** The parameters of a list of values, as IN takes it: `name_0, name_1, …`. */
export const listed = (name: string, values: ReadonlyArray<Value>): Sql<string> =>
  joined(
    values.map((_, index) => sql`${`${name}_${index}`}`),
    sql`, `
  )

/** The values of a list's parameters. */
export const valuesOf = (name: string, values: ReadonlyArray<Value>): Values<string> =>
  Object.fromEntries(values.map((value, index) => [`${name}_${index}`, value]))
