import { optional } from "@coffer/domain/base/Schemas"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** The result of a deletion: the thing deleted, its place, and how a person brings it back. */
export const removed = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.Struct({ ...fields, deleted: Schema.Literal(true), restore: optional(Schema.String) })

/**
 * How what was just deleted is brought back, from the list of what can be restored. A server that keeps nothing, or is older, has
 * nothing to say.
 */
export const restorableBy = <E, R>(
  list: Effect.Effect<{ readonly data: ReadonlyArray<{ readonly restorable_until: string }> }, E, R>,
  command: string
) =>
  list.pipe(
    Effect.orElseSucceed(() => ({ data: [] })),
    Effect.map(({ data: [newest] }) =>
      newest === undefined ? {} : { restore: `until ${newest.restorable_until}, with: ${command}` }
    )
  )
