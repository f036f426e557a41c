/** Reads compact matrices without schemas: the console draws one before those are loaded. */
import type { CompactMatrix } from "./CompactMatrix.js"
import type { Matrix, MatrixCell } from "./Matrix.js"

/** Returns the matrix that a compact one stands for. */
const expanded = ({ data, environments, facts, others, writers, writes }: CompactMatrix): Matrix => {
  const factsOf = new Map(facts.map(({ cell, row, ...more }) => [`${row} ${cell}`, more]))
  const changes = writes.map(([millis = 0, writer = 0]) => ({
    updated_at: new Date(millis).toISOString(),
    updated_by: writers[writer] ?? ""
  }))
  const cellOf = (short: ReadonlyArray<number | null>, place: string): MatrixCell => {
    const [version, same, write] = short
    return {
      version: version ?? 0,
      updated_at: "",
      updated_by: "",
      ...changes[write ?? 0],
      same: same ?? null,
      ...factsOf.get(place)
    }
  }
  return {
    environments,
    others,
    data: data.map(({ cells, key }, row) => ({
      key,
      cells: cells.map((short, cell) => (short === null ? null : cellOf(short, `${row} ${cell}`)))
    }))
  }
}

/** Returns the matrix of a client, in whichever form it asked for; undefined after 304. */
export const matrixOf = (found: CompactMatrix | Matrix | void): Matrix | undefined =>
  found !== undefined && "writes" in found ? expanded(found) : (found ?? undefined)
