import * as Schema from "effect/Schema"
import { withMessage } from "../base/Message.js"
import { ConnectionName, RotationName, SecretKey } from "../base/Names.js"
import {
  boundedArray,
  Count,
  createdAt,
  extensibleEnum,
  field,
  optional,
  Timestamp,
  updatedAt
} from "../base/Schemas.js"
import { spanMillis, spanPattern } from "../base/Span.js"
import { DatabaseUser } from "./Connection.js"
import { isZone, weekdays } from "./RotationWindow.js"

const hour = 3_600_000
const everyMessage = "must be a length of time such as 12h or 30d: 1 hour to 365 days"
const Every = Schema.String.pipe(
  Schema.filter((text) => spanMillis(text) >= hour && spanMillis(text) <= 365 * 24 * hour, withMessage(everyMessage))
).annotations({ jsonSchema: { type: "string", pattern: spanPattern } })

const Users = boundedArray(DatabaseUser, {
  items: { type: "string" },
  max: 2,
  text: "must be one user or two",
  empty: "must be one user or two"
})

const maxWrites = 20
const templateMessage = withMessage("must be a text of at most 4,000 characters")
const Template = Schema.String.annotations(templateMessage).pipe(Schema.maxLength(4_000, templateMessage))
const writesMessage = `must be an object of 1 to ${maxWrites} keys with texts that have {user} and {password}`
const Writes = Schema.Record({ key: SecretKey, value: Template })
  .pipe(
    Schema.filter((writes) => {
      const { length } = Object.keys(writes)
      return length >= 1 && length <= maxWrites
    }, withMessage(writesMessage))
  )
  .annotations({
    jsonSchema: { type: "object", additionalProperties: { type: "string" }, minProperties: 1, maxProperties: maxWrites }
  })

const StoredWrites = Schema.Record({ key: Schema.String, value: Schema.String }).annotations({
  jsonSchema: { type: "object", additionalProperties: { type: "string" } }
})

const Time = Schema.String.pipe(
  Schema.pattern(/^(?:[01][0-9]|2[0-3]):[0-5][0-9]$/, withMessage("must be a time of the day such as 22:30"))
)
const Day = Schema.Literal(...weekdays).annotations(withMessage(`must be days: ${weekdays.join(", ")}`))
const Days = boundedArray(Day, {
  items: { type: "string", enum: [...weekdays] },
  max: 7,
  text: "must be at most 7 days",
  empty: "must be at least one day"
})
const zoneMessage = "must be a time zone such as Europe/Berlin"
const Zone = Schema.String.pipe(Schema.filter((text) => text.length <= 64 && isZone(text), withMessage(zoneMessage)))

export const RotationWindow = Schema.Struct({
  days: field(Days, "the days of the week", ["sat", "sun"]),
  from: field(Time, "when it begins", "22:00"),
  to: field(Time, "when it ends; before `from`: on the next day", "04:00"),
  zone: field(Zone, "the time zone of these", "Europe/Berlin")
}).annotations({ identifier: "RotationWindow", description: "when a turn may begin" })

const lengthMessage = withMessage("must be a whole number from 16 to 128")
const Length = Schema.Int.annotations(lengthMessage).pipe(Schema.between(16, 128, lengthMessage))

const alphabetMessage = "must be 10 to 94 different printable characters of ASCII, without spaces"
const Alphabet = Schema.String.pipe(
  Schema.filter(
    (text) => /^[!-~]{10,94}$/.test(text) && new Set(text).size === text.length,
    withMessage(alphabetMessage)
  )
)

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
export const rotationDefaults = { every: "30d", length: 32, alphabet: letters } as const

export const rotationStates = ["idle", "drawn", "changed", "proved", "written"] as const
export type RotationState = (typeof rotationStates)[number]

const texts = {
  name: "its name",
  connection: "the connection by which passwords are changed",
  users: "the users in the database whose passwords are changed: two take turns, the one that programs use now first",
  writes: "the secrets that are written, with texts in which {user} and {password} stand",
  every: "how often, 1h to 365d",
  window: "when a turn may begin",
  length: "the length of passwords, 16 to 128",
  alphabet: "the characters of passwords"
}

const examples = {
  name: RotationName.make("shop-app"),
  connection: ConnectionName.make("shop-db"),
  users: ["app_a", "app_b"],
  writes: { DATABASE_URL: "postgres://{user}:{password}@db.internal.example.com/shop" },
  window: { days: ["sat"], from: "22:00", to: "04:00", zone: "Europe/Berlin" } as const
}

export const newRotation = {
  name: field(RotationName, texts.name, examples.name),
  connection: field(ConnectionName, texts.connection, examples.connection),
  users: field(Users, texts.users, examples.users),
  writes: field(Writes, texts.writes, examples.writes),
  every: optional(Every, `${texts.every}; default: ${rotationDefaults.every}`, rotationDefaults.every),
  window: optional(RotationWindow, `${texts.window}; default: at any time`),
  length: optional(Length, `${texts.length}; default: ${rotationDefaults.length}`, rotationDefaults.length),
  alphabet: optional(Alphabet, `${texts.alphabet}; default: letters and digits`, rotationDefaults.alphabet)
}

export const changedRotation = {
  writes: optional(Writes, texts.writes, examples.writes),
  every: optional(Every, texts.every, rotationDefaults.every),
  window: optional(Schema.NullOr(RotationWindow), `${texts.window}; null: at any time`),
  paused: optional(Schema.Boolean, "true: no turn begins; false: they go on", false)
}

export const Rotation = Schema.Struct({
  name: field(RotationName, texts.name, examples.name),
  connection: field(ConnectionName, texts.connection, examples.connection),
  users: field(Schema.Array(Schema.String), texts.users, examples.users),
  writes: field(StoredWrites, texts.writes, examples.writes),
  every: field(Schema.String, texts.every, rotationDefaults.every),
  window: field(Schema.NullOr(RotationWindow), `${texts.window}; null: at any time`, null),
  length: field(Length, texts.length, rotationDefaults.length),
  alphabet: field(Schema.String, texts.alphabet, rotationDefaults.alphabet),
  state: field(
    extensibleEnum("RotationState", "how far its turn is", rotationStates),
    "how far its turn is: idle between turns; drawn, changed, proved and written within one",
    "idle"
  ),
  next_user: field(Schema.String, "the user whose password this turn changes, or the next one", "app_b"),
  due_at: field(Timestamp, "time of its next turn, or of the next try"),
  rotated_at: field(Schema.NullOr(Timestamp), "time of its last turn; null if there was none"),
  failures: field(Count, "how many tries in a row have failed", 0),
  problem: field(Schema.NullOr(Schema.String), "why the last try failed; null if it did not", null),
  paused: field(Schema.NullOr(Schema.String), "why it is paused; null if it is not", null),
  created_by: field(Schema.String, "the e-mail of the creator", "ada@example.com"),
  created_at: createdAt,
  updated_at: updatedAt
}).annotations({
  identifier: "Rotation",
  description: "credentials in a database that the server replaces on a schedule"
})
export type Rotation = typeof Rotation.Type
