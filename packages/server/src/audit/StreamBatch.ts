import * as Effect from "effect/Effect"
import { auditEntry, type EntryRow } from "./EntryReader.js"
import type { StreamedEntry } from "./StreamPlaces.js"

/** A batch is written once it has this many entries or characters. */
const maxEntries = 500
const maxCharacters = 1024 * 1024

interface Line {
  readonly position: number
  readonly text: string
  readonly entry: StreamedEntry
}

/** Lines that are written together, and the places that the stream has reached then. */
export const makeBatch = () => {
  const lines: Array<Line> = []
  const reached = new Map<string, number>()
  let characters = 0
  return {
    add: (row: EntryRow) =>
      Effect.map(auditEntry(row), (record) => {
        const text = `${JSON.stringify({ ...record, chain: row.chain })}\n`
        lines.push({ text, position: row.position, entry: { log: row.log, seq: row.seq, id: row.id } })
        characters += text.length
      }),
    reach: (log: string, seq: number): void => {
      reached.set(log, seq)
    },
    isFull: (): boolean => lines.length >= maxEntries || characters >= maxCharacters,
    reached,
    /** The lines, about in the order of commit: in a log, positions have the order of the numbers. Null if there are none. */
    content: () => {
      lines.sort((a, b) => a.position - b.position)
      const last = lines.at(-1)
      return last === undefined ? null : { text: lines.map(({ text }) => text).join(""), last: last.entry }
    }
  } as const
}
