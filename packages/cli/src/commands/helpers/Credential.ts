import type { Settings } from "@coffer/client/internal/Settings"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { CannotDo } from "../../base/Failures.js"
import { type PlaceOptions, readSecrets } from "./TrustedPlace.js"

/** A line break at the end is of the file or the `echo` that the credential came from. */
const withoutLineBreak = (text: string): string => text.replace(/\r?\n$/, "")

const broken = (key: string) =>
  new CannotDo({
    message: `${key} has a line break or a NUL byte in it, which no password can hold: store the password alone, with coffer secret set ${key}`
  })

/**
 * Reads secrets that another program uses as credentials, in the order of their keys. One line break at the end is dropped. Fails
 * for a value with another one: the protocols of the programs have lines.
 */
export const readCredentials = Effect.fnUntraced(function* (
  settings: Settings,
  options: PlaceOptions,
  keys: ReadonlyArray<string>
) {
  const secrets = yield* readSecrets(settings, options, keys)
  return yield* Effect.forEach(keys, (key) => {
    const value = secrets.get(key)
    const text = value === undefined ? "" : withoutLineBreak(Redacted.value(value))
    return /[\n\r\0]/.test(text) ? Effect.fail(broken(key)) : Effect.succeed(Redacted.make(text))
  })
})

/** Reads one credential. */
export const readCredential = (settings: Settings, options: PlaceOptions, key: string) =>
  Effect.map(readCredentials(settings, options, [key]), ([value = Redacted.make("")]) => value)
