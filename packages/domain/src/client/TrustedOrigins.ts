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

/** Whether API keys may be sent to this origin if it comes from `service.yml`. */
export const isTrusted = (origin: string): Effect.Effect<boolean, PrivateFileError> =>
  Effect.map(read, (origins) => origins.includes(origin))

/** Stores that API keys may be sent to this origin. */
export const trustOrigin = Effect.fnUntraced(function* (origin: string) {
  const origins = yield* read
  if (origins.includes(origin)) return
  yield* writePrivate(yield* path, [...origins, origin].map((line) => `${line}\n`).join(""))
})
