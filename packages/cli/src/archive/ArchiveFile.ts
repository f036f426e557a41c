import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { WrongUsage } from "../base/Failures.js"
import { type OpenOutput, openOutput, writeOutput } from "../output/OutputFile.js"
import { toTerminal, write } from "../terminal/Print.js"

/** Where an archive is written; undefined for standard output. */
export type ArchiveTarget = OpenOutput | undefined

/** Checks that an archive can be written there, before anything is asked for. Each earlier archive may be the only one. */
export const openArchive = Effect.fnUntraced(function* (path: string, force: boolean) {
  if (path !== "-") {
    return yield* openOutput({
      path,
      force,
      // It is encrypted.
      holdsValues: false,
      isOwn: false,
      mode: 0o600,
      keepsAccess: false,
      otherwise: "name - to write to standard output"
    })
  }
  if (!(yield* toTerminal)) return undefined
  return yield* new WrongUsage({
    message: "an archive is not text for a terminal: name a file, or redirect the output"
  })
})

/** Writes what is encrypted already. */
export const writeArchive = <E, R>(target: ArchiveTarget, chunks: Stream.Stream<Uint8Array, E, R>) =>
  target === undefined
    ? Stream.runForEach(chunks, write)
    : writeOutput(target, (writeChunk) => Stream.runForEach(chunks, writeChunk))
