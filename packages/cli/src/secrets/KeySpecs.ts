import { secretKeyForm } from "@coffer/domain/base/NameForms"
import * as Either from "effect/Either"
import { argument, argumentsOf, type Codec, completedBy, repeatedOption } from "../grammar/Specs.js"

/** The maximum number of keys on a command line: a request names them in its address. */
export const maxNamedKeys = 100

const keyText = (name: string, text: string) =>
  secretKeyForm.is(text) ? Either.right(text) : Either.left(`${name}: ${secretKeyForm.message}`)

type Key = Either.Either.Right<ReturnType<typeof keyText>>

const key: Codec<Key> = { value: "text", description: "", decode: keyText }

/** The key of a secret to write. `KEY=VALUE` in one word gets a message of its own, which repeats nothing of the value. */
export const writtenKey = completedBy(
  "key",
  argument<Key>(
    "KEY",
    {
      ...key,
      decode: (name, text) =>
        text.includes("=")
          ? Either.left(
              `${name} and VALUE are two words: coffer secret set KEY VALUE; without VALUE, it is asked for unseen`
            )
          : keyText(name, text)
    },
    "The secret's key"
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
