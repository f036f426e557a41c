import { Schema } from "effect"

/** What a tool deleted, and where. */
export const removed = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.Struct({ ...fields, deleted: Schema.Literal(true) })
