import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { FederationId } from "../base/Ids.js"
import { isPointer, unknownScope } from "./Claims.js"
import { withFallbackMessage, withMessage } from "../base/Message.js"
import { FederationName } from "../base/Names.js"
import { createdAt, field, Timestamp, withJsonSchema } from "../base/Schemas.js"

const issuerMessage = withMessage(
  "must be an https address as the tokens have it in iss, of at most 300 characters, without credentials, query or fragment"
)

export const isIssuer = (text: string): boolean =>
  text.length <= 300 && /^https:\/\/[^\s?#@\\\p{Cc}]+$/u.test(text) && URL.canParse(text)

/** The issuer of tokens. It is compared as text, so it is not normalized. */
export const Issuer = Schema.String.pipe(
  Schema.filter(isIssuer, {
    ...issuerMessage,
    ...withJsonSchema("the issuer of the tokens, exactly as in their claim `iss`", {
      type: "string",
      format: "uri",
      maxLength: 300
    }),
    identifier: "Issuer",
    examples: ["https://token.actions.githubusercontent.com"]
  })
)

const maxConditions = 20
const conditionsMessage = withMessage(
  `must have 1 to ${maxConditions} claims, each named by a JSON Pointer such as /repository_id, with the text that it must equal: 1 to 500 characters`
)
const subjectMessage = withFallbackMessage(
  "must not name /sub, because issuers change its form: name the claims that it is made of"
)
const pullRequestMessage = withFallbackMessage(
  "must not be pull_request_target, whose workflows anybody can start: name another event"
)
const scopeMessage = withFallbackMessage(
  "must name an id that is never given again: /repository_id, /repository_owner_id, /project_id, /namespace_id, /pipeline_id, /oidc.circleci.com~1project-id, /kubernetes.io/serviceaccount/uid, or both /kubernetes.io/namespace and /kubernetes.io/serviceaccount/name"
)

const isText = (value: unknown): value is string =>
  Predicate.isString(value) && value.length >= 1 && value.length <= 500 && !/\p{Cc}/u.test(value)

const isConditions = (value: unknown): value is Readonly<Record<string, string>> => {
  if (!Predicate.isRecord(value)) return false
  const entries = Object.entries(value)
  return (
    entries.length >= 1 &&
    entries.length <= maxConditions &&
    entries.every(([pointer, text]) => isPointer(pointer) && isText(text))
  )
}

/** The claims that a token must have, by JSON Pointer (RFC 6901), each with the text that it must equal. */
export const Conditions = Schema.Unknown.pipe(
  Schema.filter(isConditions, conditionsMessage),
  Schema.filter((conditions) => !("/sub" in conditions), subjectMessage),
  Schema.filter((conditions) => conditions["/event_name"] !== "pull_request_target", pullRequestMessage),
  Schema.filter((conditions) => !unknownScope(conditions), scopeMessage)
).annotations({
  ...withJsonSchema(
    "the claims that a token must have, by JSON Pointer, each with the text that it must equal; one at least is an id that is never given again",
    {
      type: "object",
      minProperties: 1,
      maxProperties: maxConditions,
      additionalProperties: { type: "string", minLength: 1, maxLength: 500 }
    }
  ),
  identifier: "Conditions",
  examples: [{ "/repository_id": "123456789", "/environment": "production" }]
})
export type Conditions = typeof Conditions.Type

const maxKeys = 20
const maxKeyCharacters = 8_000
const privateFields = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]

const isPublicKey = (key: unknown): key is Readonly<Record<string, unknown>> =>
  Predicate.isRecord(key) &&
  (key["kty"] === "RSA" || key["kty"] === "EC" || key["kty"] === "OKP") &&
  !privateFields.some((name) => name in key) &&
  JSON.stringify(key).length <= maxKeyCharacters

export interface PublicKeys {
  readonly keys: ReadonlyArray<Readonly<Record<string, unknown>>>
}

const keysMessage = withMessage(
  `must be a JWK Set with 1 to ${maxKeys} public keys (RSA of 2048 bits or more, P-256 or Ed25519), and no private one`
)

/** A JWK Set (RFC 7517) of public keys. */
export const PublicKeys = Schema.Unknown.pipe(
  Schema.filter(
    (value): value is PublicKeys =>
      Predicate.isRecord(value) &&
      Array.isArray(value["keys"]) &&
      value["keys"].length >= 1 &&
      value["keys"].length <= maxKeys &&
      value["keys"].every(isPublicKey),
    keysMessage
  )
).annotations({
  ...withJsonSchema("the issuer's public keys as a JWK Set, for an issuer that the server cannot reach", {
    type: "object",
    required: ["keys"],
    properties: {
      keys: {
        type: "array",
        description: "the keys (RFC 7517), without private parts",
        minItems: 1,
        maxItems: maxKeys,
        items: { type: "object" }
      }
    }
  }),
  identifier: "PublicKeys"
})

const seconds = (minimum: number, maximum: number, what: string, example: number) => {
  const text = withMessage(`must be a whole number of seconds from ${minimum} to ${maximum}`)
  return Schema.Int.annotations(text).pipe(
    Schema.between(minimum, maximum, { ...text, description: what, examples: [example] })
  )
}

export const defaultMaxAge = 600
export const defaultTtl = 900

export const MaxAge = seconds(60, 900, "the greatest age of a token in seconds, 60 to 900; default: 600", 600)
export const Ttl = seconds(60, 3_600, "how long a session lasts, in seconds, 60 to 3600; default: 900", 900)

const expiryMessage = withMessage("must be a date and time in UTC such as 2027-01-31T08:00:00Z")
export const Expiry = Schema.String.pipe(
  Schema.pattern(/^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,3})?Z$/, expiryMessage),
  Schema.filter((text) => !Number.isNaN(Date.parse(text)), {
    ...expiryMessage,
    ...withJsonSchema("time when the federation and its sessions end, in UTC; default: never", {
      type: "string",
      format: "date-time"
    }),
    examples: ["2027-01-31T08:00:00Z"]
  })
)

export const Federation = Schema.Struct({
  id: field(FederationId, "its id"),
  name: field(FederationName, "its name, unique in the account"),
  issuer: field(Issuer, "the issuer of the tokens, exactly as in their claim `iss`"),
  audience: field(
    Schema.String,
    "what the tokens must have as `aud`",
    "coffer:coffer.example.com/acme/deploy pipeline"
  ),
  conditions: field(Conditions, "the claims that a token must have, each with the text that it must equal"),
  key_ids: field(
    Schema.NullOr(Schema.Array(Schema.NullOr(Schema.String))),
    "the ids of the uploaded keys; null: the issuer's own are fetched",
    null
  ),
  max_age: field(Schema.Number, "the greatest age of a token, in seconds", defaultMaxAge),
  ttl: field(Schema.Number, "how long a session lasts, in seconds", defaultTtl),
  expires_at: field(Schema.NullOr(Timestamp), "time when it ends; null: never", null),
  created_by: field(Schema.String, "the e-mail of the creator", "ada@example.com"),
  created_at: createdAt,
  last_used_at: field(Schema.NullOr(Timestamp), "time of the last sign-in; null: never", null)
}).annotations({
  identifier: "Federation",
  description: "an issuer whose tokens a service account signs in with, so that no key is stored"
})
export type Federation = typeof Federation.Type

const Failed = Schema.Struct({
  claim: field(
    Schema.String,
    "the claim, or its JSON Pointer; `signature`: the token is not signed by a key that the federation takes",
    "/environment"
  ),
  expected: field(Schema.String, "what the claim must be", "production"),
  found: field(
    Schema.NullOr(Schema.String),
    "the token's claim as JSON, at most 200 characters; null: absent",
    '"staging"'
  )
})

/** The result of checking a token against each federation of an account. */
export const FederationTrial = Schema.Struct({
  takes: field(
    Schema.NullOr(FederationName),
    "the federation by which the account would sign in with the token; null: none",
    null
  ),
  signed: field(Schema.Boolean, "whether the signature holds, by the issuer's keys or those of a federation", true),
  issuer: field(
    Schema.NullOr(Schema.String),
    "the token's claim `iss`; null: the token is malformed",
    "https://token.actions.githubusercontent.com"
  ),
  federations: field(
    Schema.Array(
      Schema.Struct({
        name: field(FederationName, "the name of the federation"),
        failed: field(
          Schema.Array(Failed),
          "the claims that do not fit, at most 20; empty: the federation takes the token"
        )
      })
    ),
    "the federations of the account, sorted by name"
  )
}).annotations({
  identifier: "FederationTrial",
  description: "whether the federations of an account take a token, and which claims do not fit"
})
export type FederationTrial = typeof FederationTrial.Type
