/** The matrix with each key, writer and time once, for those who read large ones often. */
import * as Schema from "effect/Schema"
import { dueFields } from "./Due.js"
import { Matrix, type MatrixCell } from "./Matrix.js"
import { SecretKey } from "../base/Names.js"
import { Count, field } from "../base/Schemas.js"
import { secretKind } from "./Secret.js"

/** The forms of a matrix. */
export const matrixFormats = ["full", "compact"] as const
export type MatrixFormat = (typeof matrixFormats)[number]

const apiKey = SecretKey.make("API_KEY")

export const CompactRow = Schema.Struct({
  key: field(SecretKey, "the secret's key"),
  cells: field(
    Schema.Array(Schema.NullOr(Schema.Array(Schema.NullOr(Schema.Int)))),
    "one cell for each of `environments`: null as in a `MatrixRow`, or its version, its `same`, and the place of its last change in `writes`",
    [[2, 1, 0], null]
  )
}).annotations({ identifier: "CompactRow", description: "one key in all environments of a project, with short cells" })
export type CompactRow = typeof CompactRow.Type

export const CompactFacts = Schema.Struct({
  row: field(Count, "the place of the row in `data`", 0),
  cell: field(Count, "the place of the cell in the row", 0),
  kind: secretKind,
  ...dueFields
}).annotations({ identifier: "CompactFacts", description: "what few cells of a compact matrix have" })
export type CompactFacts = typeof CompactFacts.Type

export const CompactMatrix = Schema.Struct({
  environments: Matrix.fields.environments,
  others: Matrix.fields.others,
  writers: field(Schema.Array(Schema.String), "the e-mails or service account names of those who wrote the secrets", [
    "ada@example.com"
  ]),
  writes: field(
    Schema.Array(Schema.Array(Schema.Int)),
    "the last changes of the cells: the time in milliseconds since 1970, and the place in `writers`",
    [[1_769_934_600_000, 0]]
  ),
  facts: field(Schema.Array(CompactFacts), "what only some cells have: a kind, due dates, an owner", []),
  data: field(Schema.Array(CompactRow), "the records", [{ key: apiKey, cells: [[2, 1, 0], null] }])
}).annotations({
  identifier: "CompactMatrix",
  description: "a `Matrix` in which each key, writer and time stands once"
})
export type CompactMatrix = typeof CompactMatrix.Type

/** The lists of a compact matrix beside its environments. */
export type CompactLists = Pick<CompactMatrix, "writers" | "writes" | "facts" | "data">

/** Puts rows of a matrix into its compact form, a part after the other. */
export const makeCompactLists = () => {
  const [writers, writes] = [new Map<string, number>(), new Map<string, number>()]
  const lists: { readonly [List in keyof CompactLists]: Array<CompactLists[List][number]> } = {
    writers: [],
    writes: [],
    facts: [],
    data: []
  }

  const writerOf = (name: string): number => {
    const found = writers.get(name)
    if (found !== undefined) return found
    writers.set(name, writers.size)
    return lists.writers.push(name) - 1
  }
  const writeOf = ({ updated_at, updated_by }: MatrixCell): number => {
    const name = `${updated_at} ${updated_by}`
    const found = writes.get(name)
    if (found !== undefined) return found
    writes.set(name, writes.size)
    return lists.writes.push([Date.parse(updated_at), writerOf(updated_by)]) - 1
  }

  const add = ({ cells, key }: Matrix["data"][number]): void => {
    const row = lists.data.length
    const short = cells.map((one, cell) => {
      if (one === null) return null
      const { same, updated_at: _at, updated_by: _by, version, ...facts } = one
      if (Object.keys(facts).length > 0) lists.facts.push({ row, cell, ...facts })
      return [version, same, writeOf(one)]
    })
    lists.data.push({ key, cells: short })
  }
  const done = (): CompactLists => lists

  return { add, done } as const
}
