import type * as Array from "effect/Array"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { withMessage } from "../base/Message.js"
import { SecretKey, TargetName } from "../base/Names.js"
import { boundedArray, Count, createdAt, extensibleEnum, field, optional, Timestamp } from "../base/Schemas.js"
import { KeyPattern } from "./KeyPatterns.js"
import { isTargetKeyName, targetKinds, type TargetKindName } from "./TargetKinds.js"
import { TargetState, targetStateText } from "./TargetState.js"

const [firstKind = "vault", ...otherKinds] = Struct.keys(targetKinds)
export const kindNames: Array.NonEmptyReadonlyArray<TargetKindName> = [firstKind, ...otherKinds]

const kindMessage = `must be one of ${kindNames.join(", ")}`
export const TargetKind = Schema.Literal(...kindNames).annotations({
  ...withMessage(kindMessage),
  description: "the platform"
})

const jsonSchema = { type: "object", additionalProperties: { type: "string" } }

/** A record of texts, of at most `max` fields. */
const textsOf = (max: number, isField: (name: string, text: string) => boolean, message: string) =>
  Schema.Record({ key: Schema.String, value: Schema.String }).pipe(
    Schema.filter(
      (texts) => {
        const fields = Object.entries(texts)
        return fields.length <= max && fields.every(([name, text]) => isField(name, text))
      },
      { ...withMessage(message), jsonSchema }
    )
  )

const maxPlaceText = 16_384
const isPlaceText = (name: string, text: string) =>
  name.length <= 50 && text.length >= 1 && text.length <= maxPlaceText && !/[^\P{Cc}\n]/u.test(text)
const Place = textsOf(20, isPlaceText, "must be at most 20 texts of 1 to 16384 characters, by the fields of the kind")

const isRename = (key: string, name: string) => Schema.is(SecretKey)(key) && isTargetKeyName(name)
const renameMessage =
  "must have at most 500 secret keys, each with its name there: 1 to 200 letters, digits and _ . / -"
const Rename = textsOf(500, isRename, renameMessage)

const prefixMessage = "must be 1 to 50 letters, digits and _ . / -"
export const TargetPrefix = Schema.String.pipe(Schema.pattern(/^[A-Za-z0-9_./-]{1,50}$/, withMessage(prefixMessage)))

const Keys = boundedArray(KeyPattern, {
  items: { type: "string" },
  max: 50,
  text: "at most 50 patterns",
  empty: "at least one pattern, or leave it out for all keys"
})

export const removals = ["own", "never"] as const
export const TargetRemoval = Schema.Literal(...removals).annotations(withMessage("must be own or never"))

export const automations = ["off", "push", "repair"] as const
export const TargetAutomation = Schema.Literal(...automations).annotations(withMessage("must be off, push or repair"))

const example = { url: "https://vault.example.com", mount: "secret", path: "webshop/prod" }

const texts = {
  name: "its name, unique in the environment",
  kind: "the platform",
  place: "where on the platform, by the fields of the kind, which docs/delivery.md lists",
  credential_key: "the key of the secret that authenticates there; it is never pushed",
  prefix: "what stands before each name there",
  keys: "patterns of the keys that are pushed, such as DB_*; all keys without it",
  rename: "the names there of single keys, without the prefix",
  remove: "own: a key that left the environment is removed there, if Coffer wrote it; never: it stays",
  automatic: "off; push: the server pushes each change of the environment; repair: also what was changed there"
}

const [credential, pattern] = [SecretKey.make("VAULT_TOKEN"), "DB_*"]

export const newTarget = {
  name: field(TargetName, texts.name),
  kind: field(TargetKind, texts.kind, "vault"),
  place: field(Place, texts.place, example),
  credential_key: field(SecretKey, texts.credential_key, credential),
  prefix: optional(TargetPrefix, texts.prefix, "WEB_"),
  keys: optional(Keys, texts.keys, [pattern]),
  rename: optional(Rename, texts.rename, { DB_URL: "DATABASE_URL" }),
  remove: optional(TargetRemoval, `${texts.remove}; default: never`, "own"),
  automatic: optional(TargetAutomation, `${texts.automatic}; default: off`, "push")
}

export const changedTarget = {
  automatic: optional(
    TargetAutomation,
    `${texts.automatic}. From now on by the rights of whoever changes this`,
    "push"
  ),
  paused: optional(
    Schema.Boolean,
    "true: nothing is pushed by itself; false: it goes on, by the caller's rights",
    false
  )
}

/** The properties of a target that people write. */
export interface TargetTerms {
  readonly place: Readonly<Record<string, string>>
  readonly prefix: string | null
  readonly keys: ReadonlyArray<string>
  readonly rename: Readonly<Record<string, string>>
  readonly remove: (typeof removals)[number]
}

const Texts = Schema.Record({ key: Schema.String, value: Schema.String }).annotations({ jsonSchema })

export const Target = Schema.Struct({
  name: field(TargetName, texts.name),
  kind: field(extensibleEnum("TargetKind", "the platform", kindNames), texts.kind, "vault"),
  place: field(Texts, texts.place, example),
  credential_key: field(SecretKey, texts.credential_key, credential),
  prefix: field(Schema.NullOr(Schema.String), `${texts.prefix}; null: nothing`, null),
  keys: field(Schema.Array(Schema.String), "patterns of the keys that are pushed; none: all keys", [pattern]),
  rename: field(Texts, texts.rename, { DB_URL: "DATABASE_URL" }),
  remove: field(extensibleEnum("TargetRemoval", "own or never", removals), texts.remove, "never"),
  pushed_revision: field(Schema.NullOr(Count), "the revision that was pushed last; null: none was", 12),
  pushed_at: field(Schema.NullOr(Timestamp), "when it was pushed; null: never", "2026-02-01T08:30:00.000Z"),
  owned: field(Count, "how many keys there Coffer wrote", 14),
  automatic: field(extensibleEnum("TargetAutomation", "off, push or repair", automations), texts.automatic, "off"),
  pushes_as: field(
    Schema.NullOr(Schema.String),
    "the e-mail of the person by whose rights it is pushed by itself; null: nobody",
    "ada@example.com"
  ),
  failures: field(Count, "how many tries in a row of the server itself have failed", 0),
  problem: field(Schema.NullOr(Schema.String), "the problem with the last push by the server itself; null: none", null),
  retry_at: field(Schema.NullOr(Timestamp), "when the server tries again; null: with the next change", null),
  paused: field(Schema.NullOr(Schema.String), "why the server pushes nothing by itself; null: nothing stops it", null),
  state: field(
    Schema.NullOr(TargetState),
    `its worst key at the last check: ${targetStateText}; null: never checked`,
    "in step"
  ),
  checked_at: field(Schema.NullOr(Timestamp), "when it was checked; null: never", "2026-02-01T09:30:00.000Z"),
  created_by: field(Schema.String, "the e-mail of the creator", "ada@example.com"),
  created_at: createdAt
}).annotations({
  identifier: "Target",
  description: "a place on another platform that secrets of an environment are pushed to"
})
export type Target = typeof Target.Type

export const targetChanges = ["new", "changed", "same", "theirs", "removed", "refused"] as const
export type TargetChangeKind = (typeof targetChanges)[number]

export const TargetChange = Schema.Struct({
  name: field(Schema.String, "the name there", "DATABASE_URL"),
  key: field(
    Schema.NullOr(SecretKey),
    "the key here; null if the environment has none for it",
    SecretKey.make("DB_URL")
  ),
  change: field(
    extensibleEnum(
      "TargetChangeKind",
      "what a push does: `theirs` is there and not written by Coffer, and stays; `refused` cannot be pushed",
      targetChanges
    ),
    "what a push does with it",
    "changed"
  ),
  reason: optional(Schema.String, "why it is refused, without the value", "the platform takes at most 48 KiB")
}).annotations({ identifier: "TargetChange", description: "a key of a plan, without its value" })
export type TargetChange = typeof TargetChange.Type

export const planRequest = {
  take_over: optional(
    Schema.Boolean,
    "whether keys that are there, and that Coffer did not write, are overwritten; default: false",
    true
  )
}

export const TargetPlan = Schema.Struct({
  target: field(TargetName, "the target"),
  revision: field(Count, "the revision of the environment", 12),
  plan: field(Schema.String, "names this plan: a push with it does this, or nothing", "0lW7r1xVqCkq0lW7r1xVqA"),
  data: field(Schema.Array(TargetChange), "the keys, by their names there")
}).annotations({ identifier: "TargetPlan", description: "what a push would change there, without values" })
export type TargetPlan = typeof TargetPlan.Type

export const pushRequest = {
  plan: field(
    Schema.String.pipe(Schema.maxLength(100)),
    "the plan to make: CONFLICT if either side has changed",
    "0lW7r1xVqCkq0lW7r1xVqA"
  ),
  ...planRequest
}

export const PushResult = Schema.Struct({
  target: field(TargetName, "the target"),
  revision: field(Count, "the revision that was pushed", 12),
  pushed: field(Count, "how many values it has got", 2),
  removed: field(Count, "how many keys were removed there", 1),
  left: field(Count, "how many changes are left for another push, because time was up", 0)
}).annotations({ identifier: "PushResult", description: "what a push has done" })
export type PushResult = typeof PushResult.Type

const TargetKeyState = Schema.Struct({
  name: field(Schema.String, "the name there", "DATABASE_URL"),
  key: field(SecretKey, "the key here", SecretKey.make("DB_URL")),
  state: field(TargetState, targetStateText, "changed there")
}).annotations({ identifier: "TargetKeyState", description: "a key that was pushed, as it is there" })
export type TargetKeyState = typeof TargetKeyState.Type

export const TargetCheck = Schema.Struct({
  target: field(TargetName, "the target"),
  state: field(TargetState, "that of its worst key", "changed there"),
  checked_at: field(Timestamp, "the time of this check", "2026-02-01T09:30:00.000Z"),
  data: field(Schema.Array(TargetKeyState), "the keys that Coffer wrote, by their names there")
}).annotations({ identifier: "TargetCheck", description: "what has become of what was pushed, without values" })
export type TargetCheck = typeof TargetCheck.Type
