import type { SecretKey } from "@coffer/domain/base/Names"
import { isSecretValue, maxSecretValueBytes, secretValueMessage } from "@coffer/domain/secrets/SecretValueForm"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import { CannotDo, WrongUsage } from "../base/Failures.js"
import type { SecretArgument } from "../grammar/Specs.js"
import { hasMangledArgument } from "../run/Mangled.js"
import { readBytes, type Source, sourceOf, standardInput } from "../terminal/Bytes.js"
import type { Input } from "../terminal/Input.js"
import type { Output } from "../terminal/Output.js"
import { note } from "../terminal/Print.js"
import { warnOfHistory } from "./HistoryWarning.js"
import { askHidden, canAsk } from "../terminal/Prompts.js"

const tooLarge = new CannotDo({ message: "the value is larger than 64 KB, which is the most that a secret can hold" })

const readAll = (source: Source) => readBytes(source, maxSecretValueBytes, tooLarge)

const notText = (name: string) => new CannotDo({ message: `${name} is not UTF-8 text; store binary values as base64` })

const decodeText = (bytes: Buffer, name: string) =>
  Either.try({
    // A byte order mark at the start is part of the value.
    try: () => Redacted.make(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)),
    catch: () => notText(name)
  })

/** Checks a value that was an argument. Node replaces what is not UTF-8 in its arguments. */
export const checkArgument = (name: string, text: string) =>
  text.includes("\ufffd") && hasMangledArgument() ? notText(name) : Effect.void

const fromArgument = Effect.fnUntraced(function* (key: SecretKey, { isVerbatim, value }: SecretArgument) {
  const text = Redacted.value(value)
  yield* warnOfHistory
  if (!isVerbatim && text.startsWith("-")) {
    return yield* new WrongUsage({
      message: `the value begins with a hyphen and may be a mistyped option; to store it as it is: coffer secret set ${key} -- VALUE`
    })
  }
  yield* checkArgument("the value", text)
  return value
})

const fromFile = (path: string) => Effect.flatMap(readAll(sourceOf(path)), (bytes) => decodeText(bytes, path))

const fromStandardInput = Effect.fnUntraced(function* (key: SecretKey, allowEmpty: boolean) {
  const bytes = yield* readAll(standardInput)
  if (bytes.length === 0 && !allowEmpty) {
    return yield* new WrongUsage({
      message: `standard input is empty; to store the empty text: coffer secret set ${key} ""`
    })
  }
  if (bytes.at(-1) === 10) yield* note("the value ends with a newline, which is stored too; printf writes none")
  return yield* decodeText(bytes, "standard input")
})

/** Reads a value at the prompt. Enter alone is more often a slip than the empty text, which would overwrite the value. */
const typed = (key: SecretKey, allowEmpty: boolean): Effect.Effect<Redacted.Redacted, never, Input | Output> =>
  Effect.gen(function* () {
    const answer = yield* askHidden(`Value of ${key}: `)
    const text = Redacted.value(answer)
    if (text === "" && !allowEmpty) {
      yield* note("nothing was typed: type the value, or press ctrl-C; --allow-empty stores the empty text")
      return yield* typed(key, allowEmpty)
    }
    const lines = text.split("\n").length
    if (lines > 1) yield* note(`${text.endsWith("\n") ? lines - 1 : lines} lines were pasted`)
    return answer
  })

const isDash = ({ isVerbatim, value }: SecretArgument) => !isVerbatim && Redacted.value(value) === "-"

/**
 * Reads the value to store: the argument, else the bytes of a file, else those of standard input, else what a person types.
 * The argument `-` and the file `-` mean standard input.
 */
export const readValue = Effect.fnUntraced(function* (
  key: SecretKey,
  argument: SecretArgument | undefined,
  file: string | undefined,
  allowEmpty: boolean
) {
  if (argument !== undefined && file !== undefined) {
    return yield* new WrongUsage({ message: "the value is given twice: as an argument and by --file" })
  }
  const text =
    argument !== undefined && !isDash(argument)
      ? yield* fromArgument(key, argument)
      : file !== undefined && file !== "-"
        ? yield* fromFile(file)
        : (yield* canAsk)
          ? yield* typed(key, allowEmpty)
          : yield* fromStandardInput(key, allowEmpty)
  if (!isSecretValue(Redacted.value(text))) return yield* new CannotDo({ message: `${key}: ${secretValueMessage}` })
  return text
})
