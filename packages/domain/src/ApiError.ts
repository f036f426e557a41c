import { HttpApiSchema } from "@effect/platform"
import { Schema, SchemaAST } from "effect"
import type { YieldableError } from "effect/Cause"
import { field } from "./Schemas.js"

/** The body of every response that is not 2xx or 304. */
export interface Envelope<Code extends string = string> {
  readonly error: { readonly code: Code; readonly message: string }
}

interface ApiErrorProps {
  readonly message: string
  /** The `Retry-After` header, in whole seconds. Set by the server only: clients do not decode it. */
  readonly retryAfter?: number
  /** The `Allow` header. Set by the server only. */
  readonly allow?: string
}

interface TaggedInstance<Tag extends string> extends YieldableError, ApiErrorProps {
  readonly _tag: Tag
  readonly message: string
}

export interface ApiErrorInstance<Tag extends string, Code extends string> extends TaggedInstance<Tag> {
  readonly code: Code
  readonly status: number
}

export interface ApiErrorClass<Self, Tag extends string, Code extends string> extends Schema.Schema<
  Self,
  Envelope<Code>
> {
  new (props: ApiErrorProps): ApiErrorInstance<Tag, Code>
  readonly code: Code
  readonly status: number
}

/**
 * Makes a tagged error whose encoded form is the envelope `{"error":{"code","message"}}`. The client decodes the
 * envelope to an instance of the same class.
 *
 * The cast at the end is the only one in the project: TypeScript cannot type a class with a replaced static `ast` as a
 * schema of its instances.
 */
export const ApiError =
  <Self>() =>
  <const Tag extends string, const Code extends string>(
    tag: Tag,
    options: { readonly code: Code; readonly status: number; readonly description: string; readonly example: string }
  ): ApiErrorClass<Self, Tag, Code> => {
    const Tagged: {
      new (props: ApiErrorProps): TaggedInstance<Tag>
      readonly ast: SchemaAST.AST
    } = Schema.TaggedError<TaggedInstance<Tag>>(`coffer/${tag}`)(tag, {
      message: Schema.String,
      retryAfter: Schema.optionalWith(Schema.Number, { exact: true }),
      allow: Schema.optionalWith(Schema.String, { exact: true })
    })
    const EnvelopeOf = Schema.Struct({
      error: field(
        Schema.Struct({
          code: field(Schema.Literal(options.code), "one of a closed set, in capitals"),
          message: field(Schema.String, "a message for people; it never contains a value")
        }),
        "the error"
      )
    }).annotations({ examples: [{ error: { code: options.code, message: options.example } }] })
    // Cached, because HttpApiSchema compares schemas by the identity of their AST.
    let ast: SchemaAST.AST | undefined
    class Enveloped extends Tagged {
      static readonly code = options.code
      static readonly status = options.status
      get code() {
        return options.code
      }
      get status() {
        return options.status
      }
      static override get ast() {
        return (ast ??= Schema.transform(EnvelopeOf, Schema.make<TaggedInstance<Tag>>(SchemaAST.typeAST(super.ast)), {
          strict: true,
          decode: ({ error }) => new this({ message: error.message }),
          encode: ({ message }) => ({ error: { code: options.code, message } })
        }).annotations({
          ...HttpApiSchema.annotations({ status: options.status }),
          identifier: tag,
          description: options.description
        }).ast)
      }
    }
    // eslint-disable-next-line @typescript-eslint/consistent-type-assertions
    return Enveloped as unknown as ApiErrorClass<Self, Tag, Code>
  }
