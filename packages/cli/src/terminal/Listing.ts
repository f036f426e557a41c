import * as Effect from "effect/Effect"
import type { CannotDo } from "../base/Failures.js"
import { Output } from "./Output.js"
import { widthOf } from "./Wrap.js"

/** Runs work that prints a list whole: as at a terminal of unknown width. */
export const wide = <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | Output> =>
  Effect.updateService(work, Output, (output) => ({ ...output, width: () => undefined }))

const rowsOf = (text: string, width = Infinity): number =>
  text.split("\n").reduce((rows, line) => rows + Math.max(1, Math.ceil(widthOf(line) / width)), 0)

/**
 * Prints a list, through the pager if it exceeds the terminal. Notes follow it. Only for texts without secret values: a pager
 * may keep what it shows.
 */
export const paged = (text: Effect.Effect<void, CannotDo, Output>): Effect.Effect<void, CannotDo, Output> =>
  Effect.flatMap(Output, (output) => {
    const height = output.height()
    if (!output.isTerminal || height === undefined) return text
    let list = ""
    let notes = ""
    const collected = {
      ...output,
      write: (content: string | Uint8Array) => Effect.sync(() => void (list += Buffer.from(content).toString())),
      writeError: (line: string) => void (notes += line)
    }
    return Effect.provideService(text, Output, collected).pipe(
      Effect.zipRight(
        // The list ends in a line break, and the prompt needs the line after it.
        Effect.suspend(() =>
          rowsOf(list, output.width("output")) <= height
            ? Effect.succeed(false)
            : // Loaded late: most lists are short.
              Effect.flatMap(
                Effect.promise(() => import("./Pager.js")),
                ({ page }) => page(list)
              )
        )
      ),
      Effect.flatMap((isShown) => (isShown || list === "" ? Effect.void : output.write(list))),
      Effect.ensuring(
        Effect.sync(() => {
          if (notes !== "") output.writeError(notes)
        })
      )
    )
  })
