import type { Exchange } from "@coffer/client/internal/Exchange"
import { getSecret } from "@coffer/client/internal/OneSecret"
import type { EnvNames } from "@coffer/client/internal/SecretCalls"
import { formatNames } from "@coffer/domain/formats/FormatNames"
import { versionForm } from "@coffer/domain/base/IntegerForm"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { choice, flag, integer, option } from "../grammar/Specs.js"
import type { Values } from "../grammar/Values.js"
import { toTerminal, write, writeValues } from "../terminal/Print.js"
import type { View } from "../terminal/View.js"
import { allowEnv, severalKeys } from "./KeySpecs.js"

export const getSpecs = {
  keys: severalKeys,
  at: option("at", integer(versionForm), "The version to read; default: the current one"),
  format: option("format", choice(formatNames), "The lines of several values; env when left out"),
  allowEnv,
  raw: flag("raw", "As it is stored: the text of a reference, and control characters on a terminal"),
  clip: flag("clip", "Put the value into the clipboard instead of printing it; it is cleared after 30 s")
}

export type GetOptions = Values<typeof getSpecs>

export const checkGet = ({ at, clip, format, keys }: GetOptions): string | undefined =>
  clip && (new Set(keys).size > 1 || format !== undefined)
    ? "--clip takes one value: name one KEY, without --format"
    : at !== undefined && (new Set(keys).size > 1 || format !== undefined)
      ? "--at names a version of one secret: name one KEY, without --format"
      : undefined

/** The one key to print byte for byte; undefined for several, which only a format keeps apart. */
export const onlyKey = ({ format, keys }: GetOptions): string | undefined =>
  format === undefined && new Set(keys).size === 1 ? keys[0] : undefined

export const rawHint = "--raw writes them as they are"

/** One value, byte for byte. */
export const readOne = Effect.fnUntraced(function* (
  exchange: Exchange,
  path: EnvNames,
  key: string,
  { at, raw }: GetOptions
) {
  const secret = yield* getSecret(exchange, path, key, { version: at, raw })
  const value = Redacted.value(secret.value)
  const content = (yield* toTerminal) ? `${value}\n` : value
  const view: View = {
    json: { ...secret, value },
    text: raw ? write(content) : writeValues(content, rawHint)
  }
  return view
})
