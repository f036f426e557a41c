import { Effect, Option } from "effect"
import { privatePath, readPrivate, type PrivateFileError, writePrivate } from "./PrivateFile.js"

const path = privatePath("trusted")

const read = Effect.gen(function* () {
  const text = yield* readPrivate(yield* path)
  return Option.match(text, {
    onNone: (): ReadonlyArray<string> => [],
    onSome: (lines) => lines.split("\n").filter((line) => line !== "")
  })
})

/** Whether a person has said that API keys may go to this origin even when only `service.yml` names it. */
export const isTrusted = (origin: string): Effect.Effect<boolean, PrivateFileError> =>
  Effect.map(read, (origins) => origins.includes(origin))

/** Remembers that API keys may go to this origin. */
export const trustOrigin = Effect.fnUntraced(function* (origin: string) {
  const origins = yield* read
  if (origins.includes(origin)) return
  yield* writePrivate(yield* path, [...origins, origin].map((line) => `${line}\n`).join(""))
})
