import * as Schema from "effect/Schema"
import { dayMillis } from "./DueState.js"
import { withMessage } from "../base/Message.js"
import { Email, EnvName, ProjectName, SecretKey } from "../base/Names.js"
import { Count, field, list, optional, Timestamp, updatedAt } from "../base/Schemas.js"
import { spanMillis, spanPattern } from "../base/Span.js"

const ops = Email.to.make("ops@example.com")

/** The terms that make a secret due. The database, the server and the clients agree on them. */
export interface DueTerms {
  readonly expires_at: string | null
  readonly rotate_every_days: number | null
  /** The next turn of the rotation that writes the secret. It stands in for the age of the version. */
  readonly turn_at: string | null
}

const earliest = (ends: ReadonlyArray<number>): number | null => (ends.length === 0 ? null : Math.min(...ends))

/**
 * When a person has to see to a secret: when it expires, or when its version is too old, unless a rotation replaces it; null if
 * neither. In milliseconds since 1970.
 */
export const ownDueMillis = (
  { expires_at, rotate_every_days, turn_at }: DueTerms,
  versionMillis: number
): number | null =>
  earliest([
    ...(expires_at === null ? [] : [Date.parse(expires_at)]),
    ...(rotate_every_days === null || turn_at !== null ? [] : [versionMillis + rotate_every_days * dayMillis])
  ])

/** When a secret is due: the earlier of that and of its rotation's next turn; null if neither. In milliseconds since 1970. */
export const dueMillis = (terms: DueTerms, versionMillis: number): number | null => {
  const own = ownDueMillis(terms, versionMillis)
  return earliest([...(own === null ? [] : [own]), ...(terms.turn_at === null ? [] : [Date.parse(terms.turn_at)])])
}

const momentMessage = withMessage("must be a date, or a date and time in UTC such as 2027-01-31T08:00:00Z")
/** Whether the day is in the calendar. JavaScript takes February 30 for March 2. */
const isDay = (text: string): boolean => {
  const millis = Date.parse(text)
  return !Number.isNaN(millis) && new Date(millis).toISOString().startsWith(text.slice(0, 10))
}

/** A date means midnight UTC at its beginning. */
export const Expiry = Schema.String.pipe(
  Schema.pattern(/^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,3})?)?Z)?$/, momentMessage),
  Schema.filter(isDay, momentMessage)
)

const maxDays = 3_650
const daysMessage = withMessage("must be a whole number of days from 1 to 3,650")
export const RotationDays = Schema.Int.annotations(daysMessage).pipe(Schema.between(1, maxDays, daysMessage))

const texts = {
  expires_at: "when the value stops working, such as the end of a certificate",
  rotate_every_days: "the age in days at which a version is due to be replaced, 1 to 3,650",
  owner: "e-mail address of the owner",
  turn_at:
    "the next turn of the rotation that writes it, which stands in for the age; absent if none does, or it is paused",
  due_at: "when it is due: the earliest of `expires_at`, `turn_at` and the age of the version; absent if none is set"
}

/** The fields of a secret in a list, each where it is set. */
export const dueFields = {
  expires_at: optional(Timestamp, texts.expires_at, "2027-01-31T08:00:00.000Z"),
  rotate_every_days: optional(Count, texts.rotate_every_days, 90),
  owner: optional(Email, texts.owner, ops),
  turn_at: optional(Timestamp, texts.turn_at, "2026-05-02T08:30:00.000Z"),
  due_at: optional(Timestamp, texts.due_at, "2026-05-02T08:30:00.000Z")
}

const nullable = (json: object) => ({ jsonSchema: { anyOf: [json, { type: "null" }] } })

/** The fields that a change of the three sets; null takes one away. */
export const changedDue = {
  expires_at: optional(
    Schema.NullOr(Expiry).annotations(nullable({ type: "string" })),
    `${texts.expires_at}: a date, or a date and time in UTC; null: never`,
    "2027-01-31T08:00:00Z"
  ),
  rotate_every_days: optional(
    Schema.NullOr(RotationDays).annotations(nullable({ type: "integer", minimum: 1, maximum: maxDays })),
    `${texts.rotate_every_days}; null: any age`,
    90
  ),
  owner: optional(Schema.NullOr(Email), `${texts.owner}; null: nobody`, ops)
}

const withinMessage = withMessage("must be a time from 1h to 366d, such as 12h or 14d")

/** How far ahead a list looks, in a query string. */
export const DueWithin = Schema.String.pipe(
  Schema.filter((text) => spanMillis(text) >= spanMillis("1h") && spanMillis(text) <= spanMillis("366d"), {
    ...withinMessage,
    description: "only secrets that are overdue, or due within this time: 1h to 366d",
    examples: ["14d"],
    jsonSchema: { type: "string", pattern: spanPattern }
  })
)

const cursorMessage = withMessage("must be the next_cursor of an earlier page")
const cursorForm = /^d([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z)-([0-9a-f-]{36})$/

/** The end of a page of due secrets. Opaque: clients send it back as `after`. */
export const DueCursor = Schema.String.pipe(
  Schema.pattern(cursorForm, {
    ...cursorMessage,
    description: "the `next_cursor` of the previous page",
    examples: ["d2026-05-02T08:30:00.000Z-0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d50"]
  })
)

/** The position of a secret among all that are due: by their due dates, and then by their ids. */
export interface DuePosition {
  readonly due_at: string
  readonly id: string
}

export const dueCursorOf = ({ due_at, id }: DuePosition): string => `d${due_at}-${id}`

/** Returns the position that a cursor encodes; the inverse of `dueCursorOf`. Before all without a cursor. */
export const duePositionOf = (cursor: string | undefined): DuePosition => {
  const [, due_at = "", id = ""] = cursorForm.exec(cursor ?? "") ?? []
  return { due_at, id }
}

export const DueSecret = Schema.Struct({
  project: field(ProjectName, "the project's name"),
  env: field(EnvName, "the environment's name"),
  key: field(SecretKey, "the secret's key"),
  version: field(Count, "the number of the version, from 1"),
  updated_at: updatedAt,
  ...dueFields,
  due_at: field(Timestamp, "when it is due", "2026-05-02T08:30:00.000Z")
}).annotations({ identifier: "DueSecret", description: "a secret that is due, without its value" })
export type DueSecret = typeof DueSecret.Type

export const DuePage = Schema.Struct({
  ...list(DueSecret).fields,
  pagination: field(
    Schema.Struct({
      limit: field(Count, "maximum number of records in a page", 100),
      has_next: field(Schema.Boolean, "whether there are more records", false),
      next_cursor: field(Schema.NullOr(Schema.String), "the `after` of the next page; null at the end", null)
    }),
    "position of this page in the list"
  )
}).annotations({ identifier: "DuePage", description: "a page of secrets that are due, the earliest first" })
export type DuePage = typeof DuePage.Type
