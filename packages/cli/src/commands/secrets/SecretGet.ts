import type { Exchange } from "@coffer/client/internal/Exchange"
import { getSecret } from "@coffer/client/internal/OneSecret"
import type { EnvPath } from "@coffer/domain/api/Paths"
import type { FormatName } from "@coffer/domain/formats/FormatNames"
import type { SecretKey } from "@coffer/domain/base/Names"
import { type Bundle, listOf } from "@coffer/domain/secrets/Bundle"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type { Failure } from "../../base/Failures.js"
import { writeSecrets } from "../../formats/Formats.js"
import { atEnv, type Call } from "../../grammar/Command.js"
import { checkGet, type GetOptions, getSpecs, onlyKey, rawHint, readOne } from "../../secrets/Get.js"
import type { Output } from "../../terminal/Output.js"
import { note, write, writeValues } from "../../terminal/Print.js"
import type { View } from "../../terminal/View.js"
import { requireComplete } from "./CompleteBundle.js"

/** Asks for the texts of references. */
const rawOf = (raw: boolean) => (raw ? ({ raw: true } as const) : {})

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

/** Puts a value into the clipboard. The record has no value then. */
const copyOne = Effect.fnUntraced(function* (exchange: Exchange, path: EnvPath, key: string, options: GetOptions) {
  const { value, ...secret } = yield* getSecret(exchange, path, key, { version: options.at, raw: options.raw })
  const { toClipboard } = yield* Effect.promise(() => import("../../terminal/Clipboard.js"))
  const sentence = yield* toClipboard(key, Redacted.value(value))
  const view: View = { json: secret, text: note(sentence) }
  return view
})

export const get = atEnv("get", {
  description:
    "Print a value, byte for byte (on a terminal with a final newline, and escapes), or several as the lines of a file",
  examples: [
    "coffer secret get API_KEY > key.txt",
    "coffer secret get API_KEY --at 1",
    "coffer secret get API_KEY DATABASE_URL",
    "coffer secret get API_KEY DATABASE_URL --format json",
    "coffer secret get API_KEY --clip"
  ],
  options: {
    keys: getSpecs.keys,
    at: getSpecs.at,
    format: getSpecs.format,
    allowEnv: getSpecs.allowEnv,
    raw: getSpecs.raw,
    clip: getSpecs.clip
  },
  check: checkGet,
  run: ({ call, exchange, options, path }): Effect.Effect<View, Failure, Output> => {
    const { allowEnv, clip, format = "env", keys, raw } = options
    const key = onlyKey(options)
    if (clip && key !== undefined) return copyOne(exchange, path, key, options)
    return key === undefined
      ? readMany(call, path, [...new Set(keys)], { format, raw, allowEnv })
      : readOne(exchange, path, key, options)
  }
})
