import * as Array from "effect/Array"
import * as Schema from "effect/Schema"
import { expectedVersionForm, type IntegerForm, integerForm, versionForm } from "./IntegerForm.js"
import { withFallbackMessage, withMessage } from "./Message.js"

/** The annotations of a schema with its own JSON Schema. That replaces the schema's description, so it repeats it. */
export const withJsonSchema = (description: string, jsonSchema: object) => ({
  description,
  jsonSchema: { ...jsonSchema, description }
})

/**
 * A field of a record. The text belongs to the field: a copy of a named schema with another description would replace that
 * schema in the documents. Without an example, the field has that of its schema.
 */
export const field = <S extends Schema.Schema.Any>(
  schema: S,
  description: string,
  ...examples: ReadonlyArray<Schema.Schema.Type<S>>
) => Schema.propertySignature(schema).annotations({ description, ...withExamples(examples) })

const withExamples = <A>(examples: ReadonlyArray<A>) => (Array.isNonEmptyReadonlyArray(examples) ? { examples } : {})

export const Timestamp = Schema.String.annotations({
  ...withJsonSchema("a time in UTC, to the millisecond", { type: "string", format: "date-time" }),
  identifier: "Timestamp",
  examples: ["2026-01-31T12:00:00.000Z"]
})

export const createdAt = field(Timestamp, "time of creation")
export const updatedAt = field(Timestamp, "time of the last change", "2026-02-01T08:30:00.000Z")

const countMessage = "must be a whole number from 0 to 2,147,483,647"

/** A version number, a revision number or a count: a non-negative 32-bit integer. */
export const Count = Schema.Int.annotations(withMessage(countMessage)).pipe(
  Schema.between(0, 2_147_483_647, {
    ...withMessage(countMessage),
    identifier: "Count",
    description: "a whole number",
    examples: [3]
  })
)

/** An integer in a query string, within inclusive bounds. */
export const integerParameter = (minimum: number, maximum: number) => parameterOf(integerForm(minimum, maximum))

const parameterOf = ({ maximum, message: text, minimum }: IntegerForm) => {
  return Schema.transform(
    Schema.String.pipe(Schema.pattern(/^(0|[1-9][0-9]{0,9})$/, withMessage(text))),
    Schema.Int.annotations(withMessage(text)).pipe(Schema.between(minimum, maximum, withMessage(text))),
    { decode: Number, encode: String }
  ).annotations({ jsonSchema: { type: "integer", minimum, maximum } })
}

/** A switch in a query string: `1`, or absent. */
export const flagParameter = (description: string) => {
  const text = "must be 1, or left out"
  return Schema.transform(Schema.Literal("1").annotations(withMessage(text)), Schema.Literal(true), {
    decode: () => true as const,
    encode: () => "1" as const
  }).annotations({
    jsonSchema: { type: "string", enum: ["1"] },
    description,
    examples: [true]
  })
}

/** The number of a version or a revision, in a query string. */
export const VersionParameter = parameterOf(versionForm)

/** The last version or revision of the previous page, in a query string. */
export const BeforeParameter = VersionParameter.annotations({
  description: "only versions or revisions before this one",
  examples: [3]
})

/** The version that a change expects, in a query string: 0 when the key must not exist. */
export const ExpectedVersionParameter = parameterOf(expectedVersionForm).annotations({
  description: "the expected current version; CONFLICT if it differs",
  examples: [3]
})

/** The most items of a page. */
export const maxPageSize = 100

/** The most items of a page, in a query string. */
export const LimitParameter = integerParameter(1, maxPageSize).annotations({
  description: "maximum number of records in a page",
  examples: [20]
})

/**
 * Extensible enum: the server sends one of `words`; clients accept any string, so that an older client works with a newer
 * server.
 */
export const extensibleEnum = (identifier: string, description: string, words: Array.NonEmptyReadonlyArray<string>) =>
  Schema.String.annotations({
    ...withJsonSchema(description, { type: "string", enum: [...words] }),
    identifier,
    examples: [words[0]]
  })

/** A request body: unknown fields are rejected. */
export const body = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.Struct(fields).annotations({ parseOptions: { onExcessProperty: "error" } })

/** The envelope of all lists in responses: `{"data":[…]}`. */
export const list = <S extends Schema.Schema.Any>(item: S) =>
  Schema.Struct({ data: field(Schema.Array(item), "the records") })

/** An optional field: it may be absent, but not `null`. Without a description, it has that of its schema. */
export const optional = <S extends Schema.Schema.Any>(
  schema: S,
  description?: string,
  ...examples: ReadonlyArray<Schema.Schema.Type<S>>
) =>
  Schema.optionalWith(schema, { exact: true }).annotations({
    ...(description !== undefined && { description }),
    ...withExamples(examples)
  })

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
