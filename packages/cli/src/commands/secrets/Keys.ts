import { SecretKey } from "@coffer/domain/Names"
import { SecretKeys } from "@coffer/domain/SecretValues"
import { argument, argumentsOf, commas, completedBy, option } from "../../grammar/Fields.js"

/** The maximum number of keys on a command line: a request names them in its address. */
const maxNamedKeys = 100

/** The key of a secret that no list shows. */
export const absentKey = argument("KEY", SecretKey, "The secret's key")

export const key = completedBy("key", argument("KEY", SecretKey, "The secret's key"))

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

/** The keys in a sentence. */
export const sentenceOf = (keys: ReadonlyArray<SecretKey>): string =>
  keys.length < 2 ? keys.join("") : `${keys.slice(0, -1).join(", ")} and ${keys.at(-1) ?? ""}`
