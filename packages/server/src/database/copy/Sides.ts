import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type { Table } from "./Tables.js"

/** A statement or file operation of a copy that failed. */
export class CopyFailed extends Data.TaggedError("CopyFailed")<{
  readonly reason: string
  /** Whether the disk is full. */
  readonly full: boolean
}> {}

/** The values of a row, in the order of its table's columns. */
export type Row = ReadonlyArray<unknown>

/** How many rows are in memory at once: a version holds up to 64 KiB, and an audit entry up to 250 KB. */
export const rowsAtOnce = 250

interface Side {
  readonly tables: ReadonlyArray<Table>
  readonly count: (table: Table) => Effect.Effect<number, CopyFailed>
}

/** A database that is read at one moment. */
export interface Source extends Side {
  /** Passes the rows of a table to `use`, at most `rowsAtOnce` at a time. */
  readonly each: <E>(
    table: Table,
    use: (rows: ReadonlyArray<Row>) => Effect.Effect<void, E>
  ) => Effect.Effect<void, E | CopyFailed>
}

/** A database with empty tables. */
export interface Target extends Side {
  readonly insert: (table: Table, rows: ReadonlyArray<Row>) => Effect.Effect<void, CopyFailed>
}
