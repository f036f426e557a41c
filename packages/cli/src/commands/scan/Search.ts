import { Patterns } from "../../run/Patterns.js"
import type { Needle } from "./Needles.js"

const lineBreak = 0x0a

const breaksIn = (bytes: Buffer) => bytes.reduce((count, byte) => (byte === lineBreak ? count + 1 : count), 0)

/** Needles that are the same text belong to several keys. */
const merge = (needles: ReadonlyArray<Needle>) => {
  const keys = new Map<string, { readonly bytes: Buffer; readonly keys: Set<string> }>()
  for (const { bytes, key } of needles) {
    const text = bytes.toString("latin1")
    const found = keys.get(text) ?? { bytes, keys: new Set<string>() }
    keys.set(text, { ...found, keys: found.keys.add(key) })
  }
  return [...keys.values()]
}

export interface Find {
  /** The line on which the value begins, from 1 on. */
  readonly line: number
  readonly key: string
}

/** Finds values in the content of files, chunk by chunk. */
export class Haystack {
  private readonly texts
  private readonly breaks
  private readonly patterns

  constructor(needles: ReadonlyArray<Needle>) {
    this.texts = merge(needles)
    this.breaks = this.texts.map(({ bytes }) => breaksIn(bytes))
    this.patterns = new Patterns(this.texts.map(({ bytes }) => bytes))
  }

  /** Begins with a file. Takes its chunks, and gives what was found up to then: a key once a line. */
  search() {
    const finds = new Map<string, Find>()
    let state = 0
    let line = 1
    const take = (chunk: Uint8Array) => {
      for (const byte of chunk) {
        state = this.patterns.next(state, byte)
        if (this.patterns.longestAt(state) > 0) {
          // The value of one key may be the end of that of another.
          for (const index of this.patterns.patternsAt(state)) {
            const begin = line - (this.breaks[index] ?? 0)
            for (const key of this.texts[index]?.keys ?? []) finds.set(`${begin} ${key}`, { line: begin, key })
          }
        }
        if (byte === lineBreak) line++
      }
    }
    return { take, finds: (): ReadonlyArray<Find> => [...finds.values()] }
  }
}
