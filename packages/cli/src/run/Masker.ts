import type { Patterns } from "./Patterns.js"

/** The text that replaces a value in the output. */
export const mark = "<masked by coffer>"

/** A part of the output that is masked: from `start` up to `end`, in bytes since the beginning. */
interface Masked {
  readonly start: number
  readonly end: number
  /** Whether the mark was written already. */
  readonly isMarked: boolean
}

/**
 * Replaces the patterns in a stream of bytes, also where chunks divide them. Occurrences that overlap become one mark.
 * Keeps back only bytes that may be the beginning of a pattern.
 */
export class Masker {
  private state = 0
  /** Bytes that were read, and the first of them that is not written yet. */
  private read = 0
  private written = 0
  private kept = Buffer.alloc(0)
  private masked: Array<Masked> = []

  constructor(private readonly patterns: Patterns) {}

  /** Takes a chunk of the output. Returns what can be written now. */
  push(chunk: Uint8Array): Buffer {
    const { patterns } = this
    for (const byte of chunk) {
      this.state = patterns.next(this.state, byte)
      this.read++
      const length = patterns.longestAt(this.state)
      if (length > 0) this.mask(this.read - length)
    }
    this.kept = Buffer.concat([this.kept, chunk])
    return this.flush(this.read - patterns.openAt(this.state))
  }

  /** Returns what is left, at the end of the output. */
  end(): Buffer {
    return this.flush(this.read)
  }

  private mask(from: number) {
    let start = from
    let isMarked = false
    for (let last = this.masked.at(-1); last !== undefined && last.end > from; last = this.masked.at(-1)) {
      start = Math.min(start, last.start)
      isMarked = last.isMarked
      this.masked.pop()
    }
    this.masked.push({ start, end: this.read, isMarked })
  }

  /** Returns everything up to a position that no further occurrence can begin before. */
  private flush(limit: number): Buffer {
    const parts: Array<Buffer> = []
    const copy = (to: number) => {
      parts.push(this.kept.subarray(0, to - this.written))
      skip(to)
    }
    const skip = (to: number) => {
      this.kept = this.kept.subarray(to - this.written)
      this.written = to
    }
    for (let [next] = this.masked; next !== undefined && next.start < limit; [next] = this.masked) {
      copy(next.start)
      if (!next.isMarked) parts.push(Buffer.from(mark))
      skip(Math.min(next.end, limit))
      this.masked.shift()
      // It may grow: what was read of it is not kept.
      if (next.end > limit) this.masked.unshift({ start: limit, end: next.end, isMarked: true })
    }
    if (this.written < limit) copy(limit)
    return Buffer.concat(parts)
  }
}
