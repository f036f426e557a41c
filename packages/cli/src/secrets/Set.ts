import type { Exchange } from "@coffer/client/internal/Exchange"
import { charsets, generateValue } from "@coffer/client/internal/GeneratedValue"
import { setSecret } from "@coffer/client/internal/OneSecret"
import type { EnvNames } from "@coffer/client/internal/SecretCalls"
import { defined } from "@coffer/domain/base/Defined"
import { expectedVersionForm } from "@coffer/domain/base/IntegerForm"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import { noteWarnings } from "../changes/Warnings.js"
import { askingSpecs } from "../grammar/Asking.js"
import { anyText, flag, integer, option, optionWithDefault, secretArguments } from "../grammar/Specs.js"
import type { SecretArgument } from "../grammar/Specs.js"
import type { Values } from "../grammar/Values.js"
import { doneView } from "../terminal/View.js"
import { describeRecipe, recipe } from "./Generate.js"
import { maxNamedKeys, pairOf, type Written, writtenKey } from "./KeySpecs.js"
import { readValue } from "./SecretInput.js"

export const setSpecs = {
  key: writtenKey,
  values: secretArguments(
    "VALUE",
    maxNamedKeys - 1,
    "The value (after -- if it begins with a hyphen), or - for standard input, of which a final newline is part; others on this machine can see arguments, and they stay in the shell's history"
  ),
  file: option(
    "file",
    anyText,
    "Take the value from this file, or for - from standard input; a final newline is part of the value"
  ),
  generate: optionWithDefault(
    "generate",
    "LENGTH[,CHARSET]",
    recipe,
    `Store a random value without showing it: 32 letters and digits, or LENGTH characters of ${Object.keys(charsets).join(", ")}`
  ),
  expand: flag(
    "expand",
    "The value refers to other secrets: ${KEY} of the same environment, ${ENVIRONMENT:KEY} of another one; $${ stands for ${"
  ),
  allowEmpty: flag("allow-empty", "Store the empty text where nothing is typed, or standard input is empty"),
  ifVersion: option(
    "if-version",
    integer(expectedVersionForm),
    "Only when this is the current version; 0 when the key must not be there yet"
  ),
  ...askingSpecs
}

export type SetOptions = Values<typeof setSpecs>

/** A write of one secret. */
export interface OneWrite {
  readonly key: Written["key"]
  readonly value: SecretArgument | undefined
}

const asArgument = (value: Written["value"]): SecretArgument | undefined => value && { value, isVerbatim: true }

/** The write of one secret; undefined for several. */
export const onlyWrite = ({ key: { key, value }, values }: SetOptions): OneWrite | undefined => {
  if (value !== undefined) return values.length === 0 ? { key, value: asArgument(value) } : undefined
  return values.length > 1 ? undefined : { key, value: values[0] }
}

/** The secrets of a command line `A=1 B=2`. Fails with a sentence, which shows no value. */
export const pairsOf = ({ key: first, values }: SetOptions): Either.Either<ReadonlyArray<Written>, string> =>
  Either.gen(function* () {
    const pairs = [first]
    for (const [index, { value }] of values.entries()) {
      const pair = pairOf(`argument ${index + 2}`, Redacted.value(value))
      if (Either.isLeft(pair) || pair.right.value === undefined) {
        return yield* Either.left(`argument ${index + 2} is no KEY=VALUE; put a value with spaces in quotes`)
      }
      if (pairs.some(({ key }) => key === pair.right.key)) return yield* Either.left(`${pair.right.key} is given twice`)
      pairs.push(pair.right)
    }
    return pairs
  })

const forOne = "one secret alone: with several KEY=VALUE, leave it out"

export const checkSet = (options: SetOptions): string | undefined => {
  const { allowEmpty, expand, file, generate, ifVersion, key, values } = options
  if (key.value === undefined && values.length > 1) {
    return `unexpected argument ${values.length + 1} of coffer secret set: put a value with spaces in quotes; several secrets are KEY=VALUE each`
  }
  const value = onlyWrite(options)?.value
  if (onlyWrite(options) === undefined) {
    const single = { file: file !== undefined, generate: generate !== undefined, "if-version": ifVersion !== undefined }
    const [name] = Object.entries(single).flatMap(([name, isGiven]) => (isGiven ? [name] : []))
    if (name !== undefined) return `--${name} is for ${forOne}`
    return Either.match(pairsOf(options), { onLeft: (problem) => problem, onRight: () => undefined })
  }
  if (generate === undefined) return undefined
  if (value !== undefined) return "--generate makes the value: leave VALUE out; a length is written --generate=LENGTH"
  return file !== undefined || allowEmpty || expand
    ? "--generate makes the value: leave --file, --expand and --allow-empty out"
    : undefined
}

/** Stores a value. */
export const store = Effect.fnUntraced(function* (
  exchange: Exchange,
  path: EnvNames,
  { key, value }: OneWrite,
  options: SetOptions
) {
  const { generate: made } = options
  const written = yield* setSecret(exchange, path, key, {
    value:
      made === undefined
        ? yield* readValue(key, value, options.file, options.allowEmpty)
        : yield* generateValue(made.length, made.charset),
    ...(options.expand && { kind: "reference" as const }),
    ...defined({ expected_version: options.ifVersion })
  })
  const what = made === undefined ? "" : `: ${describeRecipe(made)}`
  const place = `${path.project_name}/${path.env_name}`
  yield* noteWarnings(written, place)
  return doneView(`${written.key} stored in ${place} as version ${written.version}${what}`, written)
})
