import type { BundleSecret } from "@coffer/domain/client/BundleClient"
import { Redacted } from "effect"
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
  /** Copies the output of a command. Calls back when everything is written, or nobody reads it. */
  readonly copy: (from: Readable, to: Writable, done: () => void) => void
}

/** What to mask: each line of each value. */
export const maskOf = (secrets: ReadonlyArray<BundleSecret>): Mask => {
  const values = secrets.map(({ key, value }) => ({ key, value: Redacted.value(value) }))
  const patterns = new Patterns(values.flatMap(({ value }) => linesOf(value).map((line) => Buffer.from(line))))
  return {
    short: values.filter(({ value }) => value !== "" && linesOf(value).length === 0).map(({ key }) => key),
    copy: (from, to, done) => copy(from, to, new Masker(patterns), done)
  }
}

const copy = (from: Readable, to: Writable, masker: Masker, done: () => void): void => {
  from.on("data", (chunk: Buffer) => {
    const text = masker.push(chunk)
    if (text.length === 0 || to.write(text)) return
    from.pause()
    to.once("drain", () => from.resume())
  })
  from.once("end", () => to.write(masker.end(), () => done()))
  // The reader has stopped: so does the command at its next write, as without us in between.
  to.once("error", () => {
    from.destroy()
    done()
  })
}
