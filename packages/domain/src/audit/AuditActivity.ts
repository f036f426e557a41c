import * as Schema from "effect/Schema"
import { Count, field, integerParameter, Timestamp } from "../base/Schemas.js"

/** At most how many spans of time an activity has. */
export const SpansParameter = integerParameter(1, 200).annotations({
  description: "at most how many spans of equal length; default: 48",
  examples: [48]
})

const countsText = "how many entries each span has, the earliest first"
const Counts = Schema.Array(Count)

const ActivityKind = Schema.Struct({
  name: field(Schema.String, "the action, or the actor's name", "secret.set"),
  entries: field(Count, "the number of its entries", 12),
  counts: field(Counts, countsText, [5, 7])
}).annotations({ identifier: "ActivityKind", description: "the activity of one action or one actor" })
export type ActivityKind = typeof ActivityKind.Type

const kinds = Schema.Array(ActivityKind)

export const AuditActivity = Schema.Struct({
  since: field(Timestamp, "the beginning of the first span", "2026-01-31T12:00:00.000Z"),
  seconds: field(Schema.Number, "the length of a span: a round number of seconds, minutes, hours or days", 3_600),
  complete: field(
    Schema.Boolean,
    "false if more entries match than are counted at once: then the oldest are left out, and `since` is later",
    true
  ),
  entries: field(Count, "the number of counted entries", 12),
  counts: field(Counts, countsText, [5, 7]),
  actions: field(kinds, "the most frequent actions, at most 10"),
  actors: field(kinds, "the actors with the most entries, at most 10", [
    { name: "ada@example.com", entries: 12, counts: [5, 7] }
  ])
}).annotations({ identifier: "AuditActivity", description: "how many entries of a log were made when, and by whom" })
export type AuditActivity = typeof AuditActivity.Type

const units = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60]
] as const

/** The length of a span in words. */
export const spanText = (seconds: number): string => {
  const [unit, length] = units.find(([, length]) => seconds >= length) ?? ["second", 1]
  const count = Math.round(seconds / length)
  return count === 1 ? `one ${unit}` : `${count} ${unit}s`
}
