import { HttpApiSchema, HttpServerResponse } from "@effect/platform"
import { Data, Either, ParseResult, Schema } from "effect"
import { encoding, unfit } from "./Encode.js"

/** What a handler answered is not what the contract says: the server's own mistake. */
export class UnfitAnswer extends Data.TaggedError("UnfitAnswer")<{ readonly issue: ParseResult.ParseIssue }> {}

type Encoded = Either.Either<HttpServerResponse.HttpServerResponse, ParseResult.ParseIssue>

const encoderOf = (schema: Schema.Schema.Any): ((value: unknown) => Encoded) => {
  const status = HttpApiSchema.getStatusSuccess(schema)
  const byRules = ParseResult.encodeUnknownEither(Schema.make<unknown, unknown>(schema.ast))
  const byKind = encoding(schema.ast) ?? (() => unfit)
  const encode = (value: unknown): Either.Either<unknown, ParseResult.ParseIssue> => {
    const encoded = byKind(value)
    return encoded === unfit ? byRules(value) : Either.right(encoded)
  }
  if (HttpApiSchema.isVoid(schema.ast)) {
    const empty = HttpServerResponse.empty({ status })
    return (value) => Either.map(encode(value), () => empty)
  }
  // As text: Node sends it in one piece with the headers, and bytes in a second.
  return (value) =>
    Either.map(encode(value), (body) => {
      const text = JSON.stringify(body)
      const contentLength = Buffer.byteLength(text)
      return HttpServerResponse.raw(text, { status, contentType: "application/json", contentLength })
    })
}

/** Encodes what a handler answered by the call's success schema: of several, by the first that it fits. */
export const answering = (success: Schema.Schema.Any): ((value: unknown) => Encoded) => {
  const schemas = new Set<Schema.Schema.Any>()
  HttpApiSchema.deunionize(schemas, success)
  const [first, ...others] = [...schemas].map(encoderOf)
  if (first === undefined) return () => Either.right(HttpServerResponse.empty({ status: 204 }))
  return (value) => {
    if (HttpServerResponse.isServerResponse(value)) return Either.right(value)
    let encoded = first(value)
    for (const encode of others) {
      if (Either.isRight(encoded)) break
      encoded = encode(value)
    }
    return encoded
  }
}
