import type { EnvPath, SecretPath } from "@coffer/domain/api/Paths"
import type { SecretKey } from "@coffer/domain/Names"
import { type Bundle, listOf, ReadVersionParameter } from "@coffer/domain/Secret"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { defined } from "@coffer/domain/Defined"
import { type FormatName, formatNames } from "@coffer/domain/formats/Format"
import { writeSecrets } from "../../formats/Formats.js"
import { atEnv, type Call } from "../../grammar/Command.js"
import { flag, option } from "../../grammar/Fields.js"
import { toTerminal, write, writeValues } from "../../terminal/Print.js"
import type { View } from "../../terminal/View.js"
import { allowEnvOption, severalKeys } from "./Keys.js"
import { requireComplete } from "./CompleteBundle.js"

/** Asks for the texts of references. */
const rawOf = (raw: boolean) => (raw ? ({ raw: true } as const) : {})

const rawHint = "--raw writes them as they are"

/** One value, byte for byte. */
const readOne = Effect.fnUntraced(function* (
  call: Call,
  path: SecretPath,
  options: { readonly at: number | undefined; readonly raw: boolean }
) {
  const secret = yield* call("secrets", (api) =>
    api.get({ path, urlParams: { ...defined({ version: options.at }), ...rawOf(options.raw) } })
  )
  const value = Redacted.value(secret.value)
  const content = (yield* toTerminal) ? `${value}\n` : value
  const view: View = {
    json: { ...secret, value },
    text: options.raw ? write(content) : writeValues(content, rawHint)
  }
  return view
})

const bundleOf = (call: Call, path: EnvPath, keys: ReadonlyArray<SecretKey>, raw: boolean) =>
  Effect.gen(function* () {
    const bundle = yield* call("environments", (api) =>
      api.bundle({ path, urlParams: { keys, ...rawOf(raw) }, headers: {} })
    )
    const data = yield* requireComplete(bundle)
    return { ...listOf(bundle), data } satisfies Pick<Bundle, "data">
  })

/** Several values, which only a format keeps apart. */
const readMany = Effect.fnUntraced(function* (
  call: Call,
  path: EnvPath,
  keys: ReadonlyArray<SecretKey>,
  options: { readonly format: FormatName; readonly raw: boolean; readonly allowEnv: ReadonlyArray<SecretKey> }
) {
  const bundle = yield* bundleOf(call, path, keys, options.raw)
  const allowed = new Set<string>(options.allowEnv)
  const isAllowed = (key: string) => allowed.has(key)
  const view: View = {
    json: { ...bundle, data: bundle.data.map((secret) => ({ ...secret, value: Redacted.value(secret.value) })) },
    text: Effect.flatMap(
      writeSecrets(options.format, bundle.data, { withHead: false, skip: false, isAllowed }),
      ({ text }) => (options.raw ? write(Redacted.value(text)) : writeValues(Redacted.value(text), rawHint))
    )
  }
  return view
})

export const get = atEnv("get", {
  description:
    "Print a value, byte for byte (on a terminal with a final newline, and escapes), or several as the lines of a file",
  examples: [
    "coffer secret get API_KEY > key.txt",
    "coffer secret get API_KEY --at 1",
    "coffer secret get API_KEY DATABASE_URL",
    "coffer secret get API_KEY DATABASE_URL --format json"
  ],
  options: {
    keys: severalKeys,
    at: option("at", ReadVersionParameter),
    format: option("format", Schema.Literal(...formatNames), "The lines of several values; env when left out"),
    allowEnv: allowEnvOption,
    raw: flag("raw", "As it is stored: the text of a reference, and control characters on a terminal")
  },
  check: ({ at, format, keys }) =>
    at !== undefined && (new Set(keys).size > 1 || format !== undefined)
      ? "--at names a version of one secret: name one KEY, without --format"
      : undefined,
  run: ({ call, options: { allowEnv, at, format, keys: named, raw }, path }) => {
    const keys = [...new Set(named)]
    const [key] = keys
    return keys.length === 1 && key !== undefined && format === undefined
      ? readOne(call, { ...path, key }, { at, raw })
      : readMany(call, path, keys, { format: format ?? "env", raw, allowEnv })
  }
})
