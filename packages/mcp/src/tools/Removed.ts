import * as Schema from "effect/Schema"

/** What a tool deleted, and where. */
export const removed = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.Struct({ ...fields, deleted: Schema.Literal(true) })
