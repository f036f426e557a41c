import { joined, type Sql, sql, type Value, type Values } from "./Query.js"

/** The parameters of a list of values for IN: `name_0, name_1, …`. */
export const listed = (name: string, values: ReadonlyArray<Value>): Sql<string> =>
  joined(
    values.map((_, index) => sql`${`${name}_${index}`}`),
    sql`, `
  )

/** The values for the parameters that `listed` names. */
export const valuesOf = (name: string, values: ReadonlyArray<Value>): Values<string> =>
  Object.fromEntries(values.map((value, index) => [`${name}_${index}`, value]))
