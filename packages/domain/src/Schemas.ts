import { Schema } from "effect"
import { withFallbackMessage, withMessage } from "./Message.js"

export const Timestamp = Schema.String.annotations({
  identifier: "Timestamp",
  description: "ISO 8601, UTC, with milliseconds",
  jsonSchema: { type: "string", format: "date-time" },
  examples: ["2026-01-31T12:00:00.000Z"]
})

const countMessage = "must be a whole number from 0 to 2,147,483,647"

/** A version number, a revision number or a count: a non-negative 32-bit integer. */
export const Count = Schema.Int.annotations(withMessage(countMessage)).pipe(
  Schema.between(0, 2_147_483_647, { ...withMessage(countMessage), identifier: "Count", examples: [3] })
)

/** An integer in a query string, within inclusive bounds. */
export const integerParameter = (minimum: number, maximum: number) => {
  const text = `must be a whole number from ${minimum} to ${maximum}`
  return Schema.transform(
    Schema.String.pipe(Schema.pattern(/^(0|[1-9][0-9]{0,9})$/, withMessage(text))),
    Schema.Int.annotations(withMessage(text)).pipe(Schema.between(minimum, maximum, withMessage(text))),
    { decode: Number, encode: String }
  ).annotations({ jsonSchema: { type: "integer", minimum, maximum } })
}

/** The number of a version or a revision, in a query string. */
export const VersionParameter = integerParameter(1, 2_147_483_647)

/** The version that a change expects, in a query string: 0 when the key must not exist. */
export const ExpectedVersionParameter = integerParameter(0, 2_147_483_647)

/** The most items of a page, in a query string. */
export const LimitParameter = integerParameter(1, 100)

/**
 * Extensible enum: the server sends one of `words`; clients accept any string, so that an older client works with a newer
 * server.
 */
export const extensibleEnum = (identifier: string, words: ReadonlyArray<string>) =>
  Schema.String.annotations({ identifier, jsonSchema: { type: "string", enum: [...words] } })

/** A request body: unknown fields are rejected. */
export const body = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.Struct(fields).annotations({ parseOptions: { onExcessProperty: "error" } })

/** The envelope of all lists in responses: `{"data":[…]}`. */
export const list = <S extends Schema.Schema.Any>(item: S) => Schema.Struct({ data: Schema.Array(item) })

/** An optional field: it may be absent, but not `null`. */
export const optional = <S extends Schema.Schema.All>(schema: S) => Schema.optionalWith(schema, { exact: true })

/**
 * A list of at most `max` items. A longer list fails with `text` before any item is decoded, so that it costs nothing.
 * An empty list fails with `empty`, if given. `items` is the JSON Schema of an item.
 */
export const boundedArray = <A, I>(
  item: Schema.Schema<A, I>,
  {
    empty,
    items,
    max,
    text
  }: {
    readonly items: object
    readonly max: number
    readonly text: string
    readonly empty?: string
  }
) => {
  const list = Schema.Array(item)
  return Schema.Unknown.pipe(
    Schema.filter((value) => !Array.isArray(value) || value.length <= max, withMessage(text)),
    Schema.compose(empty === undefined ? list : list.pipe(Schema.minItems(1, withFallbackMessage(empty))), {
      strict: false
    })
  ).annotations({
    jsonSchema: { type: "array", items, ...(empty !== undefined && { minItems: 1 }), maxItems: max }
  })
}
