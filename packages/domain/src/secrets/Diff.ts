import * as Schema from "effect/Schema"
import { SecretKey } from "../base/Names.js"
import { Count, extensibleEnum, field, list, optional } from "../base/Schemas.js"
import { secretFields } from "./Secret.js"

export const differences = ["only_here", "only_there", "same", "different"] as const

export const SecretDifference = Schema.Struct({
  key: secretFields.key,
  status: field(
    extensibleEnum("Difference", "how a key differs between two environments", differences),
    "the difference of this key between the environments"
  )
}).annotations({
  identifier: "SecretDifference",
  description: "how one key differs between two environments",
  examples: [
    { key: SecretKey.make("API_KEY"), status: "only_there" },
    { key: SecretKey.make("DATABASE_URL"), status: "different" }
  ]
})

export const Diff = Schema.Struct({
  ...list(SecretDifference).fields,
  left_out: optional(
    Count,
    "if rules give the caller some keys alone: how many keys are not compared, because the caller may not read them in both",
    3
  )
}).annotations({
  identifier: "Diff",
  description: "how two environments differ, without values"
})
export type Diff = typeof Diff.Type
