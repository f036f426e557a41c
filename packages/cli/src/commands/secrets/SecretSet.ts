import { charsets, generateValue } from "@coffer/domain/client/GeneratedValue"
import { ExpectedVersionParameter } from "@coffer/domain/Schemas"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { defined } from "@coffer/domain/Defined"
import { atEnv } from "../../grammar/Command.js"
import { flag, option, optionWithDefault, secretArgument } from "../../grammar/Fields.js"
import { noteWarnings } from "../../changes/Warnings.js"
import { doneView } from "../../terminal/View.js"
import { describeRecipe, recipe } from "./Generate.js"
import { writtenKey } from "./Keys.js"
import { readValue } from "./SecretInput.js"

export const set = atEnv("set", {
  description:
    "Store a value: the argument, else --file, else standard input, else what you type and nobody sees; or one that --generate makes",
  examples: [
    "coffer secret set API_KEY < key.txt",
    "coffer secret set API_KEY --file key.txt --if-version 3",
    "coffer secret set SESSION_SECRET --generate",
    "coffer secret set WEBHOOK_TOKEN --generate=64,hex --if-version 0",
    "coffer secret set URL --expand 'postgres://app:${DB_PASSWORD}@db/shop'"
  ],
  options: {
    key: writtenKey,
    value: secretArgument(
      "VALUE",
      "The value (after -- if it begins with a hyphen), or - for standard input, of which a final newline is part; others on this machine can see arguments, and they stay in the shell's history"
    ),
    file: option(
      "file",
      Schema.String,
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
      ExpectedVersionParameter,
      "Only when this is the current version; 0 when the key must not be there yet"
    )
  },
  check: ({ allowEmpty, expand, file, generate, value }) => {
    if (generate === undefined) return undefined
    if (value !== undefined) return "--generate makes the value: leave VALUE out; a length is written --generate=LENGTH"
    return file !== undefined || allowEmpty || expand
      ? "--generate makes the value: leave --file, --expand and --allow-empty out"
      : undefined
  },
  run: ({ call, options, path }) =>
    Effect.gen(function* () {
      const { generate: made, key } = options
      const payload = {
        value:
          made === undefined
            ? yield* readValue(key, options.value, options.file, options.allowEmpty)
            : yield* generateValue(made.length, made.charset),
        ...(options.expand && { kind: "reference" as const }),
        ...defined({ expected_version: options.ifVersion })
      }
      const written = yield* call("secrets", (api) => api.set({ path: { ...path, key }, payload }))
      const what = made === undefined ? "" : `: ${describeRecipe(made)}`
      const place = `${path.project_name}/${path.env_name}`
      yield* noteWarnings(written, place)
      return doneView(`${written.key} stored in ${place} as version ${written.version}${what}`, written)
    })
})
