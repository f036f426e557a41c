import { HttpApiSchema, HttpServerResponse } from "@effect/platform"
import type { SchemaAST } from "effect"
import { Data, Effect, Either, ParseResult, Predicate, Schema } from "effect"
import { forEachInTurns } from "../Turn.js"
import { encoding, unfit } from "./Encode.js"

/** What a handler answered is not what the contract says: the server's own mistake. */
export class UnfitAnswer extends Data.TaggedError("UnfitAnswer")<{ readonly issue: ParseResult.ParseIssue }> {}

type Encoded = Effect.Effect<HttpServerResponse.HttpServerResponse, ParseResult.ParseIssue>

type Encode = (value: unknown) => Either.Either<unknown, ParseResult.ParseIssue>

const encodeBy = (ast: SchemaAST.AST): Encode => {
  const byRules = ParseResult.encodeUnknownEither(Schema.make<unknown, unknown>(ast))
  const byKind = encoding(ast) ?? (() => unfit)
  return (value) => {
    const encoded = byKind(value)
    return encoded === unfit ? byRules(value) : Either.right(encoded)
  }
}

/** The schema of the records in an answer `{"data":[…]}`; none in an answer of another form. */
const recordsOf = (ast: SchemaAST.AST): SchemaAST.AST | undefined => {
  if (ast._tag !== "TypeLiteral") return undefined
  const data = ast.propertySignatures.find(({ name }) => name === "data")?.type
  return data?._tag === "TupleType" && data.elements.length === 0 ? data.rest[0]?.type : undefined
}

/** A list of fewer records is encoded at once, unless its records have no bound of their own. */
const manyRecords = 100

const noRecords = '"data":[]'

/** Encodes the records of a long list one by one, in slices, between what stands around them. */
const inSlices = (whole: Encode, record: Encode, answer: object, data: ReadonlyArray<unknown>) =>
  Effect.gen(function* () {
    const [before = "", after = ""] = JSON.stringify(yield* whole({ ...answer, data: [] })).split(noRecords)
    const pieces = yield* forEachInTurns(data, (item, index) =>
      Either.map(record(item), (encoded) => Buffer.from((index === 0 ? "" : ",") + JSON.stringify(encoded)))
    )
    return Buffer.concat([Buffer.from(`${before}"data":[`), ...pieces, Buffer.from(`]${after}`)])
  })

const encoderOf = (schema: Schema.Schema.Any): ((value: unknown) => Encoded) => {
  const status = HttpApiSchema.getStatusSuccess(schema)
  const encode = encodeBy(schema.ast)
  if (HttpApiSchema.isVoid(schema.ast)) {
    const empty = HttpServerResponse.empty({ status })
    return (value) => Either.map(encode(value), () => empty)
  }
  // As text: Node sends it in one piece with the headers, and bytes in a second.
  const atOnce = (value: unknown): Encoded =>
    Either.map(encode(value), (body) => {
      const text = JSON.stringify(body)
      const contentLength = Buffer.byteLength(text)
      return HttpServerResponse.raw(text, { status, contentType: "application/json", contentLength })
    })
  const records = recordsOf(schema.ast)
  if (records === undefined) return atOnce
  const encodeRecord = encodeBy(records)
  const many = encoding(records) === null ? 1 : manyRecords
  return (value) =>
    Predicate.hasProperty(value, "data") && Array.isArray(value.data) && value.data.length > many
      ? Effect.map(inSlices(encode, encodeRecord, value, value.data), (bytes) =>
          HttpServerResponse.uint8Array(bytes, { status, contentType: "application/json" })
        )
      : atOnce(value)
}

/** Encodes what a handler answered by the call's success schema: of several, by the first that it fits. */
export const answering = (success: Schema.Schema.Any): ((value: unknown) => Encoded) => {
  const schemas = new Set<Schema.Schema.Any>()
  HttpApiSchema.deunionize(schemas, success)
  const [first, ...others] = [...schemas].map(encoderOf)
  if (first === undefined) return () => Either.right(HttpServerResponse.empty({ status: 204 }))
  return (value) =>
    HttpServerResponse.isServerResponse(value)
      ? Either.right(value)
      : others.reduce((encoded, encode) => Effect.orElse(encoded, () => encode(value)), first(value))
}
