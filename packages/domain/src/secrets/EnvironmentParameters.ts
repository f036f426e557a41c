/** The parameters of the calls of environments, beside their paths. */
import * as Schema from "effect/Schema"
import { bundleFormats } from "./Bundle.js"
import { matrixFormats } from "./CompactMatrix.js"
import { maxMatrixEnvironments } from "./Matrix.js"
import { withMessage } from "../base/Message.js"
import { EnvName, SecretKey } from "../base/Names.js"
import { flagParameter, optional } from "../base/Schemas.js"

const key = "[A-Za-z_][A-Za-z0-9_.-]{0,99}"
const keysMessage = "must be secret keys, separated by commas"

/** Secret keys in a query string, separated by commas. */
export const KeysParameter = Schema.transform(
  Schema.String.annotations(withMessage(keysMessage)),
  Schema.Array(Schema.typeSchema(SecretKey).annotations(withMessage(keysMessage))),
  { strict: false, decode: (text: string) => text.split(","), encode: (keys: ReadonlyArray<string>) => keys.join(",") }
).annotations({
  ...withMessage(keysMessage),
  jsonSchema: { type: "string", pattern: `^${key}(,${key})*$` },
  description: "only these keys, separated by commas",
  examples: [[SecretKey.make("API_KEY"), SecretKey.make("DATABASE_URL")]]
})

const envsMessage = "must be names of environments, separated by commas"

/** Names of environments in a query string, separated by commas. */
export const EnvsParameter = Schema.transform(
  Schema.String.annotations(withMessage(envsMessage)),
  Schema.Array(Schema.typeSchema(EnvName).annotations(withMessage(envsMessage))).pipe(
    Schema.maxItems(maxMatrixEnvironments, withMessage(`names at most ${maxMatrixEnvironments} environments`))
  ),
  {
    strict: false,
    decode: (text: string) => text.split(","),
    encode: (names: ReadonlyArray<string>) => names.join(",")
  }
).annotations({
  ...withMessage(envsMessage),
  jsonSchema: { type: "string" },
  description: "only these environments, separated by commas",
  examples: [[EnvName.make("prod"), EnvName.make("staging")]]
})

const etag = `"Zk3n0fQxk8vR7yB2mJtW5cLsEaH"`

/** An ETag that a write expects. */
export const IfMatch = Schema.String.annotations({
  description: "an ETag: writes only if the environment has not changed since",
  examples: [etag]
})
export const IfNoneMatch = Schema.String.annotations({
  description: "an ETag: returns 304 if the environment has not changed since",
  examples: [etag]
})

export const dryRun = (example: boolean) =>
  optional(Schema.Boolean, "true: returns the changes without making them", example)

export const force = optional(
  Schema.Boolean,
  "true: also removes keys that other secrets refer to; reading those then fails",
  false
)

export const OtherEnv = EnvName.annotations({
  description: "the environment to compare with",
  examples: [EnvName.make("staging")]
})

export const ForceEnvParameter = flagParameter(
  "`1`: also if secrets of other environments refer to its secrets; reading those then fails"
)

export const ResolvedParameter = flagParameter("`1`: compares the values that references lead to, not their texts")

export const BundleFormatParameter = Schema.Literal(...bundleFormats).annotations({
  description: "`object`: one flat JSON object of keys and values",
  examples: ["object"]
})

export const MatrixFormatParameter = Schema.Literal(...matrixFormats).annotations({
  description: "`compact`: each key, writer and time once, in a sixth of the bytes",
  examples: ["compact"]
})
