import { Effect, identity } from "effect"
import { createReadStream } from "node:fs"
import type { Readable } from "node:stream"
import { withDefaultSignals } from "./DefaultSignals.js"
import { CannotDo } from "./Failures.js"

/** Where bytes come from. */
export interface Source {
  /** Its name in messages. */
  readonly name: string
  readonly open: () => Readable
}

export const standardInput: Source = { name: "standard input", open: () => process.stdin }

/** A file, or standard input for `-`. */
export const sourceOf = (path: string): Source =>
  path === "-" ? standardInput : { name: path, open: () => createReadStream(path) }

/** Reads everything from a source. Fails with `tooLarge` when there are more bytes than `most`. */
export const readBytes = (source: Source, most: number, tooLarge: CannotDo): Effect.Effect<Buffer, CannotDo> =>
  Effect.async<Buffer, CannotDo>((resume) => {
    const stream = source.open()
    const chunks: Array<Buffer> = []
    let size = 0
    const fail = () =>
      resume(
        Effect.fail(
          new CannotDo({ message: `${source.name} cannot be read; check that it is there and yours to read` })
        )
      )
    stream.once("error", fail)
    stream.once("end", () => resume(Effect.succeed(Buffer.concat(chunks))))
    stream.on("data", (chunk: Buffer) => {
      chunks.push(chunk)
      size += chunk.length
      if (size <= most) return
      stream.destroy()
      resume(Effect.fail(tooLarge))
    })
    return Effect.sync(() => stream.destroy())
  }).pipe(source === standardInput ? identity : withDefaultSignals)
