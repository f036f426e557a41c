import { ParseResult, Schema } from "effect"
import { envNameForm, type Form, orgNameForm, projectNameForm, secretKeyForm } from "./NameForms.js"
import { bound, rule } from "./Rule.js"

const name = <Brand extends string>(brand: Brand, form: Form<Brand>, what: string, example: string) =>
  Schema.String.pipe(
    Schema.pattern(form.pattern, {
      ...rule(form.rule),
      identifier: brand,
      description: `${what}: 2-50 lowercase letters, digits and hyphens, starting and ending with a letter or digit`,
      examples: [example]
    }),
    Schema.brand(brand)
  )

const id = <Brand extends string>(brand: Brand) =>
  Schema.String.pipe(
    Schema.pattern(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, {
      ...rule("must be a UUID in lowercase"),
      identifier: brand,
      jsonSchema: { type: "string", format: "uuid" },
      examples: ["0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e"]
    }),
    Schema.brand(brand)
  )

export const OrgName = name("OrgName", orgNameForm, "an organization name", "acme")
export type OrgName = typeof OrgName.Type

export const ProjectName = name("ProjectName", projectNameForm, "a project name", "webshop")
export type ProjectName = typeof ProjectName.Type

export const EnvName = name("EnvName", envNameForm, "an environment name", "prod")
export type EnvName = typeof EnvName.Type

export const SecretKey = Schema.String.pipe(
  Schema.pattern(secretKeyForm.pattern, {
    ...rule(secretKeyForm.rule),
    identifier: "SecretKey",
    description: secretKeyForm.rule,
    examples: ["DATABASE_URL"]
  }),
  Schema.brand("SecretKey")
)
export type SecretKey = typeof SecretKey.Type

/** The largest secret value, in bytes of UTF-8. */
export const maxSecretValueBytes = 65_536

const secretValueRule = "a secret value is a string of at most 64 KB (65,536 bytes of UTF-8), without lone surrogates"

/** The length in UTF-8 of a string, in bytes. */
export const byteLength = (text: string): number => Buffer.byteLength(text)

/** Text of at most 64 KB; the empty string is a value. Always carried as `Redacted`. */
export const SecretValue = Schema.String.pipe(
  Schema.filter(
    (text) =>
      text.isWellFormed() && (text.length * 3 <= maxSecretValueBytes || byteLength(text) <= maxSecretValueBytes),
    {
      ...rule(secretValueRule),
      identifier: "SecretValue",
      description: secretValueRule,
      jsonSchema: { type: "string", maxLength: maxSecretValueBytes },
      examples: ["postgres://app@db.internal/shop"]
    }
  ),
  Schema.brand("SecretValue")
)
export type SecretValue = typeof SecretValue.Type

export const RedactedSecretValue = Schema.Redacted(SecretValue)

const emailRule = "must be an e-mail address such as ada@example.com"
const label = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
const atom = "[a-z0-9!#$%&'*+/=?^_`{|}~-]+"

const NormalizedEmail = Schema.String.pipe(
  Schema.filter((text) => text.length <= 254 && text.indexOf("@") <= 64, rule(emailRule)),
  Schema.pattern(new RegExp(`^${atom}(?:\\.${atom})*@${label}(?:\\.${label})*$`), rule(emailRule)),
  Schema.brand("Email")
)

/** An ASCII address (the dot-atom form of RFC 5321, section 4.1.2), trimmed and in lowercase from here on. */
export const Email = Schema.transform(Schema.String.annotations(rule(emailRule)), NormalizedEmail, {
  decode: (text) => text.trim().replace(/[A-Z]/g, (letter) => letter.toLowerCase()),
  encode: (email) => email
}).annotations({
  identifier: "Email",
  jsonSchema: { type: "string", format: "email", maxLength: 254 },
  examples: [NormalizedEmail.make("ada@example.com")]
})
export type Email = typeof Email.Type

const displayNameRule =
  "a service account name has 1 to 64 characters: letters, digits, spaces, dots, underscores and hyphens, with a letter or digit first, and is not a UUID"

export const ServiceAccountName = Schema.String.pipe(
  Schema.filter(
    (text) =>
      /^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$/.test(text) && !/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text),
    {
      ...rule(displayNameRule),
      identifier: "ServiceAccountName",
      description: displayNameRule,
      jsonSchema: { type: "string", pattern: "^[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}$" },
      examples: ["deploy pipeline"]
    }
  ),
  Schema.brand("ServiceAccountName")
)
export type ServiceAccountName = typeof ServiceAccountName.Type

// A text that is far too long is not trimmed: a regular expression would take long for it.
const withoutSpaces = (text: string): string => (text.length > 1_000 ? text : text.replace(/^ +| +$/g, ""))

/** The name of a new service account: spaces around it do not count. */
export const NewServiceAccountName = Schema.transform(
  Schema.String.annotations(rule(displayNameRule)),
  ServiceAccountName,
  { decode: withoutSpaces, encode: (name) => name }
).annotations({
  description: displayNameRule,
  jsonSchema: { type: "string", pattern: "^ *[A-Za-z0-9][A-Za-z0-9 ._-]{0,63} *$" },
  examples: [ServiceAccountName.make("deploy pipeline")]
})

export const LoginCode = Schema.Redacted(
  Schema.String.pipe(
    Schema.pattern(/^[0-9]{6}$/, {
      ...rule("a login code has 6 digits"),
      identifier: "LoginCode",
      examples: ["042137"]
    })
  )
)

export const UserId = id("UserId")
export type UserId = typeof UserId.Type
export const OrgId = id("OrgId")
export type OrgId = typeof OrgId.Type
export const ProjectId = id("ProjectId")
export type ProjectId = typeof ProjectId.Type
export const EnvId = id("EnvId")
export type EnvId = typeof EnvId.Type
export const SecretId = id("SecretId")
export type SecretId = typeof SecretId.Type
export const RuleId = id("RuleId")
export type RuleId = typeof RuleId.Type
export const ServiceAccountId = id("ServiceAccountId")
export type ServiceAccountId = typeof ServiceAccountId.Type
export const SessionId = id("SessionId")
export type SessionId = typeof SessionId.Type
export const ApiKeyId = id("ApiKeyId")
export type ApiKeyId = typeof ApiKeyId.Type
export const AuditEntryId = id("AuditEntryId")
export type AuditEntryId = typeof AuditEntryId.Type
export const BackupId = id("BackupId")
export type BackupId = typeof BackupId.Type

/** A moment as text: ISO 8601, UTC, with milliseconds. */
export const Timestamp = Schema.String.annotations({
  identifier: "Timestamp",
  description: "ISO 8601, UTC, with milliseconds",
  jsonSchema: { type: "string", format: "date-time" },
  examples: ["2026-01-31T12:00:00.000Z"]
})

const countRule = "must be a whole number from 0 to 2,147,483,647"

/** A number of a version, a revision or a count. */
export const Count = Schema.Int.annotations(rule(countRule)).pipe(
  Schema.between(0, 2_147_483_647, { ...rule(countRule), identifier: "Count", examples: [3] })
)

/** A whole number in a query string, between two bounds. */
export const integerParameter = (minimum: number, maximum: number) => {
  const text = `must be a whole number from ${minimum} to ${maximum}`
  return Schema.transform(
    Schema.String.pipe(Schema.pattern(/^(0|[1-9][0-9]{0,9})$/, rule(text))),
    Schema.Int.pipe(Schema.between(minimum, maximum, rule(text))),
    { decode: Number, encode: String }
  ).annotations({ jsonSchema: { type: "integer", minimum, maximum } })
}

/**
 * A word of a set that may grow: sent as one of `words`, and taken by clients whatever it is, so that an older client lives
 * with a newer server.
 */
export const openWord = (identifier: string, words: ReadonlyArray<string>) =>
  Schema.String.annotations({ identifier, jsonSchema: { type: "string", enum: [...words] } })

/** A request body: a field that is not in it is refused. */
export const body = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.Struct(fields).annotations({ parseOptions: { onExcessProperty: "error" } })

/** A list as every list is answered: `{"data":[…]}`. */
export const list = <S extends Schema.Schema.Any>(item: S) => Schema.Struct({ data: Schema.Array(item) })

/** An optional field: left out, never `null`. */
export const optional = <S extends Schema.Schema.All>(schema: S) => Schema.optionalWith(schema, { exact: true })

/**
 * A list of at most `max` items: a longer one is refused with `text` before any item is decoded, so that a long list costs
 * nothing. An empty one is refused with `empty`, where that is given. `items` is the JSON Schema of an item.
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
    Schema.filter((value) => !Array.isArray(value) || value.length <= max, rule(text)),
    Schema.compose(empty === undefined ? list : list.pipe(Schema.minItems(1, bound(empty))), { strict: false })
  ).annotations({
    jsonSchema: { type: "array", items, ...(empty !== undefined && { minItems: 1 }), maxItems: max }
  })
}

/** The most keys that a request may name. */
export const maxKeys = 2_000
const maxKeysRule = "at most 2,000 keys at once"

/** A list of keys, for a request. */
export const SecretKeys = boundedArray(SecretKey, {
  items: {
    type: "string",
    description: secretKeyForm.rule,
    examples: ["DATABASE_URL"],
    pattern: secretKeyForm.pattern.source
  },
  max: maxKeys,
  text: maxKeysRule
})

const isObject = (u: unknown): u is object => typeof u === "object" && u !== null && !Array.isArray(u)

/**
 * Values by key: an object on the wire, a map here, because an object loses the key `__proto__`.
 *
 * A bad key or value is pointed at by its key.
 */
export const SecretValues = Schema.transformOrFail(
  Schema.Unknown.pipe(Schema.filter(isObject, rule("must be an object of keys and string values"))),
  Schema.ReadonlyMapFromSelf({
    key: Schema.typeSchema(SecretKey),
    value: Schema.typeSchema(RedactedSecretValue)
  }),
  {
    strict: true,
    decode: (object, options, ast) => {
      const found = Object.entries(object)
      // Before any of them is decoded.
      if (found.length > maxKeys) return ParseResult.fail(new ParseResult.Type(ast, null, maxKeysRule))
      const entries: Array<readonly [SecretKey, typeof RedactedSecretValue.Type]> = []
      for (const [key, value] of found) {
        const decodedKey = decodeKey(key, options)
        if (decodedKey._tag === "Left") {
          return ParseResult.fail(
            new ParseResult.Pointer(key, object, new ParseResult.Type(ast, key, secretKeyForm.rule))
          )
        }
        const decodedValue = decodeValue(value, options)
        if (decodedValue._tag === "Left") {
          return ParseResult.fail(
            new ParseResult.Pointer(key, object, new ParseResult.Type(ast, null, secretValueRule))
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
  identifier: "SecretValues",
  jsonSchema: {
    type: "object",
    propertyNames: { pattern: secretKeyForm.pattern.source },
    additionalProperties: { type: "string", maxLength: maxSecretValueBytes }
  }
})

const decodeKey = ParseResult.decodeUnknownEither(SecretKey)
const decodeValue = ParseResult.decodeUnknownEither(RedactedSecretValue)
const encodeValue = Schema.encodeSync(RedactedSecretValue)
