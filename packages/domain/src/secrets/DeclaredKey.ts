import * as Schema from "effect/Schema"
import { isTurned } from "../base/Invisible.js"
import { withMessage } from "../base/Message.js"
import { envNameForm } from "../base/NameForms.js"
import { EnvName, SecretKey } from "../base/Names.js"
import { boundedArray, Count, extensibleEnum, field, optional, updatedAt, withJsonSchema } from "../base/Schemas.js"
import { maxKeys } from "./SecretValues.js"

/** The maximum number of keys that a project may declare: as many as an environment has secrets. */
export const maxDeclaredKeys = maxKeys

/** The maximum number of environments that a declaration may name. `"*"` stands for all of them. */
export const maxRequiredIn = 24

const requiredText = `must be "*" or at most ${maxRequiredIn} names of environments`

const envNameSchema = {
  type: "string",
  description: envNameForm.message,
  examples: ["prod"],
  pattern: envNameForm.pattern.source
}

const RequiredNames = boundedArray(EnvName, {
  items: envNameSchema,
  max: maxRequiredIn,
  text: requiredText
})

/** The environments in which a key needs a value: names, which need not exist, or all of them. */
export const RequiredIn = Schema.Union(Schema.Literal("*"), RequiredNames).annotations({
  ...withMessage(requiredText),
  ...withJsonSchema("the environments that need a value for the key, by name; `*`: all of them", {
    oneOf: [
      { type: "string", enum: ["*"] },
      { type: "array", items: envNameSchema, maxItems: maxRequiredIn }
    ]
  }),
  identifier: "RequiredIn",
  examples: [[EnvName.make("prod")]]
})
export type RequiredIn = typeof RequiredIn.Type

const isText = (max: number, controls: RegExp) => (text: string) =>
  text.length >= 1 && text.length <= max && text.isWellFormed() && !controls.test(text)

// A pattern may contain any visible character, and a text may have several lines.
const anyControl = /\p{Cc}/u
const otherControl = /[^\P{Cc}\n\t]/u

const text = (max: number, controls: RegExp, message: string) =>
  Schema.String.pipe(
    Schema.filter(isText(max, controls), {
      ...withMessage(message),
      jsonSchema: { type: "string", minLength: 1, maxLength: max }
    })
  )

export const maxPatternLength = 256
const patternText = `must be a regular expression of 1 to ${maxPatternLength} characters`
/** The maximum lengths of a description or example, and of an owner. */
export const maxTextLength = 1_000
export const maxOwnerLength = 254
const longText = "must be 1 to 1,000 characters, without control characters but newlines and tabs"

export const DeclaredPattern = text(maxPatternLength, anyControl, patternText)
export const DeclaredText = text(maxTextLength, otherControl, longText)
export const DeclaredOwner = text(
  maxOwnerLength,
  anyControl,
  `must be 1 to ${maxOwnerLength} characters in one line: a person, an address or a team`
)

/** The description of each field of a declaration. */
export const declarationTexts = {
  pattern: "a regular expression (RE2) that the whole value has to match",
  description: "what the key is for",
  example: "a value that shows the form; never a real one",
  owner: "who looks after the key: a person, an address or a team"
}
const examples = {
  pattern: "postgres://.+",
  description: "The database of the shop",
  example: "postgres://app:secret@localhost/shop",
  owner: "team-payments"
}

/** The texts as they are stored: earlier versions took controls of the direction of text. */
export const storedTexts = {
  pattern: optional(DeclaredPattern, declarationTexts.pattern, examples.pattern),
  description: optional(DeclaredText, declarationTexts.description, examples.description),
  example: optional(DeclaredText, declarationTexts.example, examples.example),
  owner: optional(DeclaredOwner, declarationTexts.owner, examples.owner)
}

const straight = (schema: Schema.Schema<string>) =>
  schema.pipe(Schema.filter((text) => !isTurned(text), withMessage("must have no controls of the direction of text")))

/** The fields of a request that declares a key. Absent fields are not declared. */
export const newDeclaration = {
  required_in: optional(RequiredIn, "the environments that need a value for the key; default: none", [
    EnvName.make("prod")
  ]),
  ...storedTexts,
  // Only here: what was stored before is still read.
  description: optional(straight(DeclaredText), declarationTexts.description, examples.description),
  example: optional(straight(DeclaredText), declarationTexts.example, examples.example),
  owner: optional(straight(DeclaredOwner), declarationTexts.owner, examples.owner)
}

export const Declaration = Schema.Struct({ required_in: RequiredIn, ...storedTexts })
export type Declaration = typeof Declaration.Type

export const DeclaredKey = Schema.Struct({
  key: field(SecretKey, "the secret's key", SecretKey.make("DATABASE_URL")),
  required_in: field(RequiredIn, "the environments that need a value for the key, by name; `*`: all of them"),
  ...storedTexts,
  updated_at: updatedAt,
  updated_by: field(Schema.String, "the e-mail of the person who declared it last", "ada@example.com")
}).annotations({ identifier: "DeclaredKey", description: "what a project expects of a key, without any value" })
export type DeclaredKey = typeof DeclaredKey.Type

const keys = (description: string, ...names: ReadonlyArray<string>) =>
  field(
    Schema.Array(SecretKey),
    description,
    names.map((name) => SecretKey.make(name))
  )

/** Keys are in byte order. */
export const KeyCheck = Schema.Struct({
  declared: field(Count, "how many keys the project declares", 12),
  missing: keys("declared keys that the environment needs and does not have", "DATABASE_URL"),
  extra: keys("keys of the environment that the project does not declare", "OLD_TOKEN"),
  breaks: Schema.propertySignature(Schema.NullOr(Schema.Array(SecretKey))).annotations({
    description: "keys whose value breaks its pattern; null: the caller is never given values",
    examples: [[SecretKey.make("PORT")]]
  })
}).annotations({
  identifier: "KeyCheck",
  description: "how an environment differs from what its project declares, without values"
})
export type KeyCheck = typeof KeyCheck.Type

export const keyProblems = ["breaks_pattern", "required"] as const
export type KeyProblem = (typeof keyProblems)[number]

export const KeyWarning = Schema.Struct({
  key: field(SecretKey, "the secret's key", SecretKey.make("PORT")),
  problem: field(
    extensibleEnum("KeyProblem", "what is wrong with a change of a declared key", keyProblems),
    "breaks_pattern: the new value does not match the declared pattern; required: the key was removed where it is required"
  )
}).annotations({ identifier: "KeyWarning", description: "a change that was made against what the project declares" })
export type KeyWarning = typeof KeyWarning.Type

/** Additive: absent if there is nothing to warn of. */
export const warnings = optional(
  Schema.Array(KeyWarning),
  "changes that were made against what the project declares; absent if there are none",
  [{ key: SecretKey.make("PORT"), problem: "breaks_pattern" }]
)
