import { Context, Option, Schema, SchemaAST } from "effect"

/** What a successful response holds. */
export interface Answer {
  readonly description: string
  /** Encoded fields that differ from the example of the schema. */
  readonly example: object
}

const AnswerId = Symbol.for("@coffer/domain/Answer")

/** Describes a response of an endpoint. The copy of a schema would lose its name in the documents without the identifier. */
export const answer = <S extends Schema.Schema.Any & Schema.Annotable.All>(
  schema: S,
  description: string,
  example: Partial<Schema.Schema.Encoded<S>> = {}
) =>
  Schema.annotations<S>({
    ...Option.match(SchemaAST.getJSONIdentifier(schema.ast), {
      onNone: () => ({}),
      onSome: (name) => ({ [SchemaAST.JSONIdentifierAnnotationId]: name })
    }),
    [AnswerId]: { description, example } satisfies Answer
  })(schema)

/** Returns the description of a response. */
export const answerOf = SchemaAST.getAnnotation<Answer>(AnswerId)

/** Whether the responses of an endpoint have an `ETag`. */
export class SendsETag extends Context.Tag("@coffer/domain/Answer/SendsETag")<SendsETag, boolean>() {}
