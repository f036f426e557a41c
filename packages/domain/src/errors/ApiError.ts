import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import type { YieldableError } from "effect/Cause"
import { field } from "../base/Schemas.js"

/** The body of every response that is not 2xx or 304. */
export interface Envelope<Code extends string = string> {
  readonly error: { readonly code: Code; readonly message: string }
}

/** The next step of a caller. Each client has its own words for a step, with its own commands or tools. */
export type NextStep =
  /** Correct what the message names. */
  | "correct"
  | "correctValue"
  | "sendLess"
  /** Send a valid credential. */
  | "authenticate"
  | "logIn"
  | "askForRight"
  | "askReader"
  | "followRules"
  | "awaitApproval"
  | "askForApproval"
  | "checkNames"
  | "checkReferences"
  | "checkLimit"
  /** Read the current state, then decide again. */
  | "readAgain"
  /** The request may have had its effect: find out before repeating it. */
  | "checkEffect"
  | "checkChange"
  /** Repeat the request in a moment. */
  | "retry"
  /** Repeat the request when the message says. */
  | "wait"
  | "updateClient"
  /** The operator must act: as the message says, by what is known, or by the server's log. */
  | "configure"
  | "report"
  | "readLog"

/** How a client handles an error. */
export interface Handling {
  readonly next: NextStep
  /** The kind of exit code. */
  readonly exit: "failed" | "notAuthenticated" | "notFound"
  /**
   * Which requests may succeed if they are repeated unchanged: reads, or all because the error has no effect.
   * `ClassifyResponse.ts` retries the latter by itself.
   */
  readonly retry: "never" | "reads" | "all"
}

interface ApiErrorOptions<Code extends string> extends Partial<Omit<Handling, "next">> {
  readonly next: NextStep
  readonly code: Code
  readonly status: number
  readonly description: string
  readonly example: string
}

interface ApiErrorProps {
  readonly message: string
  /** The `Retry-After` header, in whole seconds. */
  readonly retryAfter?: number
  /** The `Allow` header. Set by the server only. */
  readonly allow?: string
  /** The scope of OAuth with which the caller's program could do it (RFC 6750, section 3.1). Set by the server only. */
  readonly scope?: string
}

interface TaggedInstance<Tag extends string> extends YieldableError, ApiErrorProps {
  readonly _tag: Tag
  readonly message: string
}

export interface ApiErrorInstance<Tag extends string, Code extends string> extends TaggedInstance<Tag> {
  readonly code: Code
  readonly status: number
  readonly handling: Handling
}

export interface ApiErrorClass<Self, Tag extends string, Code extends string> extends Schema.Schema<
  Self,
  Envelope<Code>
> {
  new (props: ApiErrorProps): ApiErrorInstance<Tag, Code>
  readonly code: Code
  readonly status: number
  readonly handling: Handling
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
    options: ApiErrorOptions<Code>
  ): ApiErrorClass<Self, Tag, Code> => {
    const Tagged: {
      new (props: ApiErrorProps): TaggedInstance<Tag>
      readonly ast: SchemaAST.AST
    } = Schema.TaggedError<TaggedInstance<Tag>>(`coffer/${tag}`)(tag, {
      message: Schema.String,
      retryAfter: Schema.optionalWith(Schema.Number, { exact: true }),
      allow: Schema.optionalWith(Schema.String, { exact: true }),
      scope: Schema.optionalWith(Schema.String, { exact: true })
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
    const handling: Handling = { next: options.next, exit: options.exit ?? "failed", retry: options.retry ?? "never" }
    // Cached, because HttpApiSchema compares schemas by the identity of their AST.
    let ast: SchemaAST.AST | undefined
    class Enveloped extends Tagged {
      static readonly code = options.code
      static readonly status = options.status
      static readonly handling = handling
      get code() {
        return options.code
      }
      get status() {
        return options.status
      }
      get handling() {
        return handling
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
