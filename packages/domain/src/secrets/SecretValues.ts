import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { withMessage } from "../base/Message.js"
import { secretKeyForm } from "../base/NameForms.js"
import { SecretKey } from "../base/Names.js"
import { boundedArray, withJsonSchema } from "../base/Schemas.js"
import { isSecretValue, maxSecretValueBytes, secretValueMessage } from "./SecretValueForm.js"

/** Text of at most 64 KB, possibly empty. Pass it as `Redacted` everywhere. */
export const SecretValue = Schema.String.pipe(
  Schema.filter((text) => isSecretValue(text), {
    ...withMessage(secretValueMessage),
    identifier: "SecretValue",
    description: secretValueMessage,
    jsonSchema: { type: "string", maxLength: maxSecretValueBytes },
    examples: ["postgres://app@db.internal/shop"]
  }),
  Schema.brand("SecretValue")
)
export type SecretValue = typeof SecretValue.Type

export const RedactedSecretValue = Schema.Redacted(SecretValue)

/** The maximum number of keys in a request. */
export const maxKeys = 2_000
const tooManyKeys = "at most 2,000 keys at once"

export const SecretKeys = boundedArray(SecretKey, {
  items: {
    type: "string",
    description: secretKeyForm.message,
    examples: ["DATABASE_URL"],
    pattern: secretKeyForm.pattern.source
  },
  max: maxKeys,
  text: tooManyKeys
})

/** Values by key: a JSON object, decoded to a `Map` because an object would lose the key `__proto__`. */
export const SecretValues = Schema.transformOrFail(
  Schema.Unknown.pipe(Schema.filter(Predicate.isRecord, withMessage("must be an object of keys and string values"))),
  Schema.ReadonlyMapFromSelf({
    key: Schema.typeSchema(SecretKey),
    value: Schema.typeSchema(RedactedSecretValue)
  }),
  {
    strict: true,
    decode: (object, options, ast) => {
      const found = Object.entries(object)
      // Checked first, so that a large object is rejected without decoding its entries.
      if (found.length > maxKeys) return ParseResult.fail(new ParseResult.Type(ast, null, tooManyKeys))
      const entries: Array<readonly [SecretKey, typeof RedactedSecretValue.Type]> = []
      for (const [key, value] of found) {
        const decodedKey = decodeKey(key, options)
        if (decodedKey._tag === "Left") {
          return ParseResult.fail(
            new ParseResult.Pointer(key, object, new ParseResult.Type(ast, key, secretKeyForm.message))
          )
        }
        const decodedValue = decodeValue(value, options)
        if (decodedValue._tag === "Left") {
          return ParseResult.fail(
            new ParseResult.Pointer(key, object, new ParseResult.Type(ast, null, secretValueMessage))
          )
        }
        entries.push([decodedKey.right, decodedValue.right])
      }
      return ParseResult.succeed(new Map(entries))
    },
    encode: (values) =>
      ParseResult.succeed(Object.fromEntries([...values].map(([key, value]) => [key, encodeValue(value)])))
  }
).annotations({
  ...withJsonSchema("values by key", {
    type: "object",
    propertyNames: { pattern: secretKeyForm.pattern.source },
    additionalProperties: { type: "string", maxLength: maxSecretValueBytes }
  }),
  identifier: "SecretValues",
  examples: [
    new Map([
      [SecretKey.make("API_KEY"), Redacted.make(SecretValue.make("k-8c1f"))],
      [SecretKey.make("DATABASE_URL"), Redacted.make(SecretValue.make("postgres://app@db2.internal/shop"))]
    ])
  ]
})

const decodeKey = ParseResult.decodeUnknownEither(SecretKey)
const decodeValue = ParseResult.decodeUnknownEither(RedactedSecretValue)
const encodeValue = Schema.encodeSync(RedactedSecretValue)
