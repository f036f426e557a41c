import type { Exchange } from "@coffer/client/internal/Exchange"
import { charsets, generateValue } from "@coffer/client/internal/GeneratedValue"
import { setSecret } from "@coffer/client/internal/OneSecret"
import type { EnvNames } from "@coffer/client/internal/SecretCalls"
import { defined } from "@coffer/domain/base/Defined"
import { expectedVersionForm } from "@coffer/domain/base/IntegerForm"
import * as Effect from "effect/Effect"
import { noteWarnings } from "../changes/Warnings.js"
import { askingSpecs } from "../grammar/Asking.js"
import { anyText, flag, integer, option, optionWithDefault, secretArgument } from "../grammar/Specs.js"
import type { Values } from "../grammar/Values.js"
import { doneView } from "../terminal/View.js"
import { describeRecipe, recipe } from "./Generate.js"
import { writtenKey } from "./KeySpecs.js"
import { readValue } from "./SecretInput.js"

export const setSpecs = {
  key: writtenKey,
  value: secretArgument(
    "VALUE",
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

export const checkSet = ({ allowEmpty, expand, file, generate, value }: SetOptions): string | undefined => {
  if (generate === undefined) return undefined
  if (value !== undefined) return "--generate makes the value: leave VALUE out; a length is written --generate=LENGTH"
  return file !== undefined || allowEmpty || expand
    ? "--generate makes the value: leave --file, --expand and --allow-empty out"
    : undefined
}

/** Stores a value. */
export const store = Effect.fnUntraced(function* (exchange: Exchange, path: EnvNames, options: SetOptions) {
  const { generate: made, key } = options
  const written = yield* setSecret(exchange, path, key, {
    value:
      made === undefined
        ? yield* readValue(key, options.value, options.file, options.allowEmpty)
        : yield* generateValue(made.length, made.charset),
    ...(options.expand && { kind: "reference" as const }),
    ...defined({ expected_version: options.ifVersion })
  })
  const what = made === undefined ? "" : `: ${describeRecipe(made)}`
  const place = `${path.project_name}/${path.env_name}`
  yield* noteWarnings(written, place)
  return doneView(`${written.key} stored in ${place} as version ${written.version}${what}`, written)
})
