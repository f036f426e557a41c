import type { BundleSecret } from "@coffer/client/internal/BundleClient"
import { bytesAsText, spellingsOf } from "@coffer/domain/secrets/Spellings"
import * as Redacted from "effect/Redacted"
import type { Readable, Writable } from "node:stream"
import { Masker } from "./Masker.js"
import { Patterns } from "./Patterns.js"

/** Shorter texts stand in much output that has nothing to do with a secret. */
const leastLength = 4

const linesOf = (value: string): ReadonlyArray<string> =>
  value.split(/\r\n|\r|\n/).filter((line) => [...line].length >= leastLength)

export interface Mask {
  /** Keys whose values are not masked, because they are too short. */
  readonly short: ReadonlyArray<string>
  /** Copies the output of a command. */
  readonly copy: (from: Readable, to: Writable) => Copying
}

export interface Copying {
  /** Resolves when everything is written, or nobody reads it. */
  readonly done: Promise<void>
  /** Stops at what the command has written so far, though other programs hold its output open. Stops at once the second time. */
  readonly letGo: () => void
}

/** Bytes of spellings that are looked for: each takes some 30 bytes of memory. */
const maxSpelled = 1024 * 1024

/** The encodings of texts, the shortest texts first, as far as there is room. */
const encodingsOf = (texts: ReadonlyArray<string>): ReadonlyArray<Buffer> => {
  let room = maxSpelled
  const found: Array<Buffer> = []
  for (const text of [...new Set(texts)].sort((one, other) => one.length - other.length)) {
    // Some twenty spellings, of which the longest has six characters for one.
    if (text.length * 40 > room) break
    const plain = bytesAsText(text)
    for (const { text: spelling } of spellingsOf(text)) {
      // Values of several lines are masked line by line.
      if (spelling.length < leastLength || spelling === plain) continue
      found.push(Buffer.from(spelling, "latin1"))
      room -= spelling.length
    }
  }
  return found
}

/**
 * Returns the mask of each line of each value, and of the encodings of values and lines that `use` removes from responses.
 */
export const maskOf = (secrets: ReadonlyArray<BundleSecret>): Mask => {
  const values = secrets.map(({ key, value }) => ({ key, value: Redacted.value(value) }))
  const lines = values.flatMap(({ value }) => linesOf(value))
  const whole = values.flatMap(({ value }) => (linesOf(value).length === 0 ? [] : [value]))
  const patterns = new Patterns([...lines.map((line) => Buffer.from(line)), ...encodingsOf([...whole, ...lines])])
  return {
    short: values.filter(({ value }) => value !== "" && linesOf(value).length === 0).map(({ key }) => key),
    copy: (from, to) => copy(from, to, new Masker(patterns))
  }
}

/** An output without a byte for so long, in milliseconds, holds nothing that its command wrote. */
const quiet = 50

/** After so many such times, the bytes are others'. */
const patience = 20

const copy = (from: Readable, to: Writable, masker: Masker): Copying => {
  let read = 0
  let watching: NodeJS.Timeout | undefined
  const stop = () => {
    clearInterval(watching)
    from.destroy()
  }
  const finish = () => {
    stop()
    to.write(masker.end(), () => from.emit("copied"))
  }
  from.on("data", (chunk: Buffer) => {
    read++
    const text = masker.push(chunk)
    if (text.length === 0 || to.write(text)) return
    from.pause()
    to.once("drain", () => from.resume())
  })
  from.once("end", finish)
  const done = new Promise<void>((resolve) => {
    from.once("copied", resolve)
    // The reader has stopped: so does the command at its next write, as without us in between.
    to.once("error", () => {
      stop()
      resolve()
    })
  })
  const letGo = () => {
    if (from.destroyed) return
    if (watching !== undefined) return finish()
    let last = read
    let times = 0
    const look = () => {
      if (from.destroyed || from.isPaused()) return
      if (read === last || ++times > patience) return finish()
      last = read
    }
    // After the event loop has looked for bytes.
    watching = setInterval(() => setImmediate(look), quiet)
  }
  return { done, letGo }
}
