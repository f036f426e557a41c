import * as Context from "effect/Context"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"

/** The description of a successful response. */
export interface ResponseDescription {
  readonly description: string
  /** Encoded fields that differ from the example of the schema. */
  readonly example: object
}

const ResponseId = Symbol.for("@coffer/domain/Response")

/** Describes a response of an endpoint. The copy of a schema would lose its name in the documents without the identifier. */
export const response = <S extends Schema.Schema.Any & Schema.Annotable.All>(
  schema: S,
  description: string,
  example: Partial<Schema.Schema.Encoded<S>> = {}
) =>
  Schema.annotations<S>({
    ...Option.match(SchemaAST.getJSONIdentifier(schema.ast), {
      onNone: () => ({}),
      onSome: (name) => ({ [SchemaAST.JSONIdentifierAnnotationId]: name })
    }),
    [ResponseId]: { description, example } satisfies ResponseDescription
  })(schema)

/** Returns the description of a response. */
export const responseOf = SchemaAST.getAnnotation<ResponseDescription>(ResponseId)

/** Whether the responses of an endpoint have an `ETag`. */
export class SendsETag extends Context.Tag("@coffer/domain/Response/SendsETag")<SendsETag, boolean>() {}
