import { readProblem } from "@coffer/client/internal/FileError"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import { createReadStream } from "node:fs"
import type { Readable } from "node:stream"
import { CannotDo } from "../base/Failures.js"
import { withDefaultSignals } from "./DefaultSignals.js"
import { Input } from "./Input.js"

/** Where bytes come from. */
export interface Source {
  /** Its name in messages. */
  readonly name: string
  readonly type: "file" | "input"
}

export const standardInput: Source = { name: "standard input", type: "input" }

/** A file, or standard input for `-`. */
export const sourceOf = (path: string): Source => (path === "-" ? standardInput : { name: path, type: "file" })

const collect = <E>(name: string, open: () => Readable, most: number, tooLarge: E) =>
  Effect.async<Buffer, CannotDo | E>((resume) => {
    const stream = open()
    const chunks: Array<Buffer> = []
    let size = 0
    const fail = (cause: unknown) =>
      resume(Effect.fail(new CannotDo({ message: `${name} cannot be read: ${readProblem(cause)}` })))
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
  })

/** Reads everything from a source. Fails with `tooLarge` when there are more bytes than `most`. */
export const readBytes = <E>(
  { name, type }: Source,
  most: number,
  tooLarge: E
): Effect.Effect<Buffer, CannotDo | E, Input> =>
  Effect.flatMap(Input, (input) => {
    const open = () => (type === "input" ? input.open() : createReadStream(name))
    return collect(name, open, most, tooLarge).pipe(type === "input" ? identity : withDefaultSignals)
  })
