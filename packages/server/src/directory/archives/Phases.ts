import * as Effect from "effect/Effect"
import type { Transaction } from "../../database/Database.js"

/** How many rows a transaction of an import writes: whoever else writes on the server waits for one transaction at most. */
export const rowsAtOnce = 200

/** Writes the records from one position up to another. */
type WriteSome<E> = (from: number, to: number) => Effect.Effect<void, E, Transaction>

/** Records of one kind that are written in their order, some in each transaction. */
export interface Phase<E> {
  readonly count: number
  /** How many records a transaction writes. */
  readonly atOnce: number
  /** Reads what the records refer to. Earlier phases are written by then. */
  readonly begin: Effect.Effect<WriteSome<E>>
}

/** A phase of records. `rowsOfEach` is the most rows that one record makes. */
export const phase = <A, E>(
  records: ReadonlyArray<A>,
  begin: Effect.Effect<(some: ReadonlyArray<A>) => Effect.Effect<void, E, Transaction>>,
  rowsOfEach = 1
): Phase<E> => ({
  count: records.length,
  atOnce: Math.max(1, Math.floor(rowsAtOnce / rowsOfEach)),
  begin: Effect.map(begin, (write) => (from: number, to: number) => write(records.slice(from, to)))
})

/**
 * Writes phases from a position on, counted over the records of all of them. `step` runs a transaction: it gets the position that
 * the records were written up to, the one that they will be, and what writes them; it returns the position that is reached, which is
 * further if another call writes the same.
 */
export const writePhases = <E, E2, R>(
  phases: ReadonlyArray<Phase<E>>,
  written: number,
  step: (from: number, to: number, write: Effect.Effect<void, E, Transaction>) => Effect.Effect<number, E | E2, R>
): Effect.Effect<void, E | E2, R> =>
  Effect.gen(function* () {
    let position = written
    let start = 0
    for (const { atOnce, begin, count } of phases) {
      const end = start + count
      if (position < end) {
        const write = yield* begin
        while (position < end) {
          const to = Math.min(end, position + atOnce)
          position = yield* step(position, to, write(position - start, to - start))
        }
      }
      start = end
    }
  })
