import { SecretKey } from "@coffer/domain/Names"
import { SecretKeys } from "@coffer/domain/SecretValues"
import { argument, argumentsOf, commas, option } from "../../grammar/Fields.js"

/** The maximum number of keys on a command line: a request names them in its address. */
const maxNamedKeys = 100

export const key = argument("KEY", SecretKey, "The secret's key")

export const severalKeys = argumentsOf(
  "KEY",
  SecretKey,
  { least: 1, most: maxNamedKeys },
  "The secret's key, or several"
)

export const someKeys = argumentsOf(
  "KEY",
  SecretKey,
  { least: 0, most: maxNamedKeys },
  "Only these secrets; all when left out"
)

/** An option with secret keys. */
export const keysOption = (name: string, description: string) =>
  option(name, commas(SecretKeys, "secret keys"), description)

/** The keys in a sentence. */
export const sentenceOf = (keys: ReadonlyArray<SecretKey>): string =>
  keys.length < 2 ? keys.join("") : `${keys.slice(0, -1).join(", ")} and ${keys.at(-1) ?? ""}`
