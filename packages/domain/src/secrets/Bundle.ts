import * as Schema from "effect/Schema"
import { warnings } from "./DeclaredKey.js"
import { SecretKey } from "../base/Names.js"
import { revisionNumber } from "./Revision.js"
import { Count, extensibleEnum, field, optional, updatedAt } from "../base/Schemas.js"
import { secretFields } from "./Secret.js"
import { RedactedSecretValue } from "./SecretValues.js"

const { key, kind, value, version } = secretFields

export const BundledSecret = Schema.Struct({
  key,
  value,
  version,
  updated_at: updatedAt,
  kind
}).annotations({ identifier: "BundledSecret", description: "a secret with its value" })
export type BundledSecret = typeof BundledSecret.Type

/** A key of a bundle whose value could not be made. */
export const BundleError = Schema.Struct({
  key,
  code: field(Schema.String, "the code of the error", "REFERENCE_REFUSED"),
  message: field(
    Schema.String,
    "what is wrong, by keys and places",
    "DATABASE_URL refers to shared:DB_PASSWORD, and this needs read on environment shared"
  )
}).annotations({ identifier: "BundleError", description: "a key whose references do not lead to a value" })
export type BundleError = typeof BundleError.Type

/** Keys are in byte order. */
export const Bundle = Schema.Struct({
  revision: revisionNumber,
  data: field(Schema.Array(BundledSecret), "the records"),
  errors: optional(
    Schema.Array(BundleError),
    "the keys whose references do not lead to a value; absent if there are none"
  )
}).annotations({
  identifier: "Bundle",
  description: "a consistent snapshot of an environment's secrets that the caller may read"
})
export type Bundle = typeof Bundle.Type

/** The forms of a bundle. */
export const bundleFormats = ["list", "object"] as const
export type BundleFormat = (typeof bundleFormats)[number]

export const BundleObject = Schema.Record({
  key: SecretKey,
  value: RedactedSecretValue
}).annotations({
  identifier: "BundleObject",
  jsonSchema: {
    type: "object",
    additionalProperties: { type: "string" },
    description: "the values of an environment by their keys, for programs that take one JSON object"
  }
})
export type BundleObject = typeof BundleObject.Type

const isList = (bundle: Bundle | BundleObject): bundle is Bundle => Array.isArray(Reflect.get(bundle, "data"))

/** Returns the bundle of a client that asks for no other form; undefined after 304. */
export const listOf = (bundle: Bundle | BundleObject | void): Bundle | undefined =>
  bundle !== undefined && isList(bundle) ? bundle : undefined

export const changes = ["created", "updated", "unchanged", "deleted"] as const

export const SecretChange = Schema.Struct({
  key,
  version,
  change: field(extensibleEnum("Change", "the change of a key", changes), "the change of the key")
}).annotations({
  identifier: "SecretChange",
  description: "the change of one key",
  examples: [
    { key: SecretKey.make("API_KEY"), version: 1, change: "created" },
    { key: SecretKey.make("DATABASE_URL"), version: 4, change: "updated" },
    { key: SecretKey.make("OLD_TOKEN"), version: 2, change: "deleted" }
  ]
})
export type SecretChange = typeof SecretChange.Type

/** The result of a bulk write, or of its dry run. */
export const BundleWritten = Schema.Struct({
  revision: field(Count, "grows with every write or removal of a secret in the environment", 43),
  data: field(Schema.Array(SecretChange), "the records"),
  left_out: optional(
    Count,
    "of a copy, if rules give the caller some keys alone: how many keys are not copied, because the caller may not read or write them",
    3
  ),
  warnings
}).annotations({ identifier: "BundleWritten", description: "the change of each key of a write" })
export type BundleWritten = typeof BundleWritten.Type
