import { secretKeyForm } from "@coffer/domain/NameForms"
import { SecretKey } from "@coffer/domain/Names"
import { SecretKeys } from "@coffer/domain/SecretValues"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { argument, argumentsOf, commas, completedBy, option, repeatedOption } from "../../grammar/Fields.js"

const decodeKey = Schema.decodeUnknownEither(SecretKey)

/** The maximum number of keys on a command line: a request names them in its address. */
const maxNamedKeys = 100

/** The key of a secret that no list shows. */
export const absentKey = argument("KEY", SecretKey, "The secret's key")

export const key = completedBy("key", argument("KEY", SecretKey, "The secret's key"))

/** The key of a secret to write. `KEY=VALUE` in one word gets a message of its own, which repeats nothing of the value. */
export const writtenKey = completedBy(
  "key",
  argument("KEY", {
    value: "text",
    description: "The secret's key",
    decode: (name, text) =>
      text.includes("=")
        ? Either.left(
            `${name} and VALUE are two words: coffer secret set KEY VALUE; without VALUE, it is asked for unseen`
          )
        : Either.mapLeft(decodeKey(text), () => `${name}: ${secretKeyForm.message}`)
  })
)

export const severalKeys = completedBy(
  "key",
  argumentsOf("KEY", SecretKey, { least: 1, most: maxNamedKeys }, "The secret's key, or several")
)

export const someKeys = completedBy(
  "key",
  argumentsOf("KEY", SecretKey, { least: 0, most: maxNamedKeys }, "Only these secrets; all when left out")
)

/** An option with secret keys. */
export const keysOption = (name: string, description: string) =>
  completedBy("keys", option(name, commas(SecretKeys, "secret keys"), description))

/** The option for keys that are withheld from shells. */
export const allowEnvOption = repeatedOption(
  "allow-env",
  SecretKey,
  "Give a shell this key although its name makes other programs run code; may be given again"
)

/** The keys in a sentence. */
export const sentenceOf = (keys: ReadonlyArray<SecretKey>): string =>
  keys.length < 2 ? keys.join("") : `${keys.slice(0, -1).join(", ")} and ${keys.at(-1) ?? ""}`
