import { secretKeyForm } from "@coffer/domain/base/NameForms"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import { argument, argumentsOf, type Codec, completedBy, repeatedOption } from "../grammar/Specs.js"

/** The maximum number of keys on a command line: a request names them in its address. */
export const maxNamedKeys = 100

const keyText = (name: string, text: string) =>
  secretKeyForm.is(text) ? Either.right(text) : Either.left(`${name}: ${secretKeyForm.message}`)

type Key = Either.Either.Right<ReturnType<typeof keyText>>

const key: Codec<Key> = { value: "text", description: "", decode: keyText }

/** A key to write, and its value where both are one word. */
export interface Written {
  readonly key: Key
  readonly value: Redacted.Redacted | undefined
}

/** Takes `KEY=VALUE` apart. A message repeats nothing of the value. */
export const pairOf = (name: string, text: string): Either.Either<Written, string> => {
  const at = text.indexOf("=")
  const value = at < 0 ? undefined : Redacted.make(text.slice(at + 1))
  return Either.map(keyText(name, at < 0 ? text : text.slice(0, at)), (key) => ({ key, value }))
}

/** The key of a secret to write, alone or with its value. */
export const writtenKey = completedBy(
  "key",
  argument<Written>(
    "KEY",
    { ...key, decode: pairOf },
    "The secret's key; or several secrets in one write, each as KEY=VALUE"
  )
)

export const severalKeys = completedBy(
  "key",
  argumentsOf("KEY", key, { least: 1, most: maxNamedKeys }, "The secret's key, or several")
)

/** The option for keys that are withheld from shells. */
export const allowEnv = repeatedOption(
  "allow-env",
  key,
  "Give a shell this key although its name makes other programs run code; may be given again"
)
