import { Patterns } from "../../run/Patterns.js"
import type { SecretPattern } from "./SecretPatterns.js"

const lineBreak = 0x0a

const breaksIn = (bytes: Buffer) => bytes.reduce((count, byte) => (byte === lineBreak ? count + 1 : count), 0)

/** Several keys may share a pattern. */
const merge = (patterns: ReadonlyArray<SecretPattern>) => {
  const keys = new Map<string, { readonly bytes: Buffer; readonly keys: Set<string> }>()
  for (const { bytes, key } of patterns) {
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
export class SecretSearch {
  private readonly texts
  private readonly breaks
  private readonly patterns

  constructor(patterns: ReadonlyArray<SecretPattern>) {
    this.texts = merge(patterns)
    this.breaks = this.texts.map(({ bytes }) => breaksIn(bytes))
    this.patterns = new Patterns(this.texts.map(({ bytes }) => bytes))
  }

  /** Starts with a file. `take` gets its chunks; `finds` returns what was found so far, each key once a line. */
  start() {
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
