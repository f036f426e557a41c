import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { CannotDo } from "../base/Failures.js"
import { readBytes, type Source } from "./Bytes.js"

/** Reads text. A byte order mark at its start is not part of it. */
export const readText = Effect.fnUntraced(function* (source: Source, largest: number, tooLarge: string) {
  const { name } = source
  const bytes = yield* readBytes(source, largest, new CannotDo({ message: `${name} is ${tooLarge}` }))
  return yield* Effect.try({
    try: () => Redacted.make(new TextDecoder("utf-8", { fatal: true }).decode(bytes)),
    catch: () => new CannotDo({ message: `${name} is not UTF-8 text; convert it first` })
  })
})
