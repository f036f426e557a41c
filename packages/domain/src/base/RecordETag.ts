import * as Schema from "effect/Schema"
import { optional } from "./Schemas.js"

const example = '"Zk3n0fQxk8vR7yB2mJtW5cLsEaH"'

/** A field of a record that several people change. */
export const etag = optional(
  Schema.String,
  "the state of what can be changed: a change that sends it as `If-Match` is refused if somebody else was faster; opaque",
  example
)

/** The headers of a change of such a record. */
export const RecordMatch = Schema.Struct({
  "if-match": optional(
    Schema.String.annotations({
      description: "the record's `etag`: changes it only if it has not changed since, else CONFLICT",
      examples: [example]
    })
  )
})
export type RecordMatch = typeof RecordMatch.Type
