import { SecretKey } from "@coffer/domain/base/Names"
import { SecretKeys } from "@coffer/domain/secrets/SecretValues"
import { argument, argumentsOf, commas, option } from "../../grammar/Fields.js"
import { completedBy } from "../../grammar/Specs.js"
import * as specs from "../../secrets/KeySpecs.js"

/** The key of a secret that no list shows. */
export const absentKey = argument("KEY", SecretKey, "The secret's key")

export const key = completedBy("key", argument("KEY", SecretKey, "The secret's key"))

export const severalKeys = specs.severalKeys

export const someKeys = completedBy(
  "key",
  argumentsOf("KEY", SecretKey, { least: 0, most: specs.maxNamedKeys }, "Only these secrets; all when left out")
)

/** An option with secret keys. */
export const keysOption = (name: string, description: string) =>
  completedBy("keys", option(name, commas(SecretKeys, "secret keys"), description))

export const allowEnvOption = specs.allowEnv

/** The keys in a sentence. */
export const sentenceOf = (keys: ReadonlyArray<SecretKey>): string =>
  keys.length < 2 ? keys.join("") : `${keys.slice(0, -1).join(", ")} and ${keys.at(-1) ?? ""}`
