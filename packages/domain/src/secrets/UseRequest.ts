import * as Schema from "effect/Schema"
import { withMessage } from "../base/Message.js"
import { SecretKey } from "../base/Names.js"
import { body, boundedArray, Count, field, optional } from "../base/Schemas.js"
import { secretKeyForm } from "../base/NameForms.js"
import { StoreField } from "./StoreField.js"
import { UseMethod } from "./UseMethod.js"

const urlMessage = withMessage("must be an https address of at most 8,000 ASCII characters")
const Url = Schema.String.pipe(
  Schema.filter((text) => text.length <= 8_000 && /^https?:\/\/[!-~]+$/i.test(text), {
    ...urlMessage,
    jsonSchema: { type: "string", format: "uri", maxLength: 8_000 }
  })
)

const headersMessage = withMessage(
  "must be an object of at most 30 headers, with names of letters, digits and hyphens and values of visible ASCII characters"
)
const Headers = Schema.Record({ key: Schema.String, value: Schema.String })
  .annotations(headersMessage)
  .pipe(
    Schema.filter(
      (headers) =>
        Object.keys(headers).length <= 30 &&
        Object.entries(headers).every(
          ([name, value]) => /^[A-Za-z0-9-]{1,100}$/.test(name) && value.length <= 4_000 && /^[ -~]*$/.test(value)
        ),
      { ...headersMessage, jsonSchema: { type: "object", additionalProperties: { type: "string" } } }
    )
  )

/** The most bytes of a body that the server sends. */
export const maxUseBody = 10 * 1024 * 1024
/** The largest request: a body of the most bytes in base64, and the rest. */
export const maxUseRequest = 14 * 1024 * 1024

const base64Message = withMessage("must be base64 with padding")
/** A pattern over megabytes would hold the event loop for too long: whoever decodes a longer text checks its characters. */
const maxChecked = 64 * 1024
const Base64 = Schema.String.pipe(
  Schema.filter(
    (text) => text.length % 4 === 0 && (text.length > maxChecked || /^[A-Za-z0-9+/]*={0,2}$/.test(text)),
    base64Message
  )
)

const maxSecrets = 4
const keysText = `at most ${maxSecrets} secrets in a request`

export const UseRequest = body({
  method: field(UseMethod, "the method", "POST"),
  url: field(Url, "the address; it must fit a use rule of each secret", "https://api.stripe.com/v1/refunds"),
  headers: optional(
    Headers,
    "headers such as accept, content-type, idempotency-key and those of API versions; others are refused",
    { "content-type": "application/x-www-form-urlencoded" }
  ),
  body: optional(Schema.String, "the body as text, at most 10 MiB", "charge=ch_1"),
  body_base64: optional(Base64, "the body in base64, of at most 10 MiB"),
  stream: optional(
    Schema.Boolean,
    "true: where the rules say stream, the response comes as lines of JSON while it arrives; default: false",
    false
  ),
  store: optional(
    StoreField,
    "a field of an answer of 2xx that the server stores and does not show, such as a key that the provider returns once; needs `write`"
  ),
  secrets: field(
    boundedArray(SecretKey, {
      items: { type: "string", pattern: secretKeyForm.pattern.source },
      max: maxSecrets,
      text: keysText,
      empty: "name at least one secret"
    }),
    "the keys of the secrets; the server puts their values where their rules say",
    [SecretKey.make("STRIPE_KEY")]
  )
})
export type UseRequest = typeof UseRequest.Type

const ResponseHeaders = Schema.Record({ key: Schema.String, value: Schema.String }).annotations({
  jsonSchema: { type: "object", additionalProperties: { type: "string" } }
})

export const UseResponse = Schema.Struct({
  status: field(Schema.Number, "the status of the answer", 200),
  headers: field(ResponseHeaders, "headers of the answer; never set-cookie", { "content-type": "application/json" }),
  body: optional(Schema.String, "the answer, if it is text", '{"id":"re_1"}'),
  body_base64: optional(Schema.String, "the answer in base64, if it is not text"),
  truncated: field(Schema.Boolean, "whether the answer is longer than the rule allows", false),
  scrubbed: field(Schema.Number, "how often a value was replaced by [scrubbed]", 0),
  stored: optional(
    Schema.Struct({
      key: field(SecretKey, "the key", SecretKey.make("STRIPE_KEY")),
      version: field(Count, "its new version", 4)
    }),
    "the secret that got the field which `store` names"
  )
}).annotations({
  identifier: "UseResponse",
  description: "the answer of the other side, without the values that were used"
})
export type UseResponse = typeof UseResponse.Type
