import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { LeaseId } from "../base/Ids.js"
import { LeaseRoleName } from "../base/Names.js"
import { Count, createdAt, extensibleEnum, field, optional, Timestamp } from "../base/Schemas.js"
import { LeaseSpan } from "./LeaseRole.js"

export const newLease = {
  ttl: optional(LeaseSpan, "how long it lasts; default: what the role says", "30m")
}

export const renewedLease = {
  ttl: optional(LeaseSpan, "how long it lasts from now on; default: what the role says", "30m")
}

export const isIdempotencyKey = (text: string): boolean => /^[!-~]{1,100}$/.test(text)

/** Two calls of one caller with the same key make one lease. */
export const IdempotencyKey = Schema.Struct({
  "idempotency-key": optional(
    Schema.String,
    "1 to 100 printable characters of ASCII, of the caller's choice: a repeated call with the same one returns the first lease, for 10 minutes",
    "run-4711"
  )
})

export const leaseStates = ["making", "live", "ending"] as const
export type LeaseState = (typeof leaseStates)[number]

const username = field(
  Schema.String,
  "the user in the database; its name carries the lease's id",
  "coffer_00oq7a0zxv9s1q8t2m4w6y8b"
)

const shared = {
  id: LeaseId,
  role: field(LeaseRoleName, "the role"),
  username,
  expires_at: field(Timestamp, "time of its end, unless it is renewed"),
  expires_in: field(Count, "seconds until its end, for programs whose clock differs", 3_600),
  renewable_until: field(Timestamp, "time beyond which it cannot be renewed", "2026-02-01T12:00:00.000Z"),
  renewable_for: field(Count, "seconds until then", 86_400)
}

export const Lease = Schema.Struct({
  ...shared,
  state: field(
    extensibleEnum("LeaseState", "how far it is", leaseStates),
    "live; making until the database has the user, and ending until it confirms that the user is removed",
    "live"
  ),
  holder: field(Schema.String, "the person or the service account that has it", "ci"),
  delegation: field(Schema.NullOr(Schema.String), "the id of the delegation by which it was made; null: none", null),
  ended: field(Schema.NullOr(Schema.String), "why it ends; null while it does not", null),
  problem: field(Schema.NullOr(Schema.String), "why its user could not be removed yet; null if nothing failed", null),
  created_at: createdAt
}).annotations({ identifier: "Lease", description: "a user in a database that was made for one caller" })
export type Lease = typeof Lease.Type

export const IssuedLease = Schema.Struct({
  ...shared,
  password: field(
    Schema.Redacted(Schema.String),
    "the user's password; returned only in this response",
    Redacted.make("…")
  ),
  url: field(
    Schema.Redacted(Schema.String),
    "the address of the database with user and password; returned only in this response",
    Redacted.make("postgres://…")
  )
}).annotations({ identifier: "IssuedLease", description: "a new lease, with its credential" })
export type IssuedLease = typeof IssuedLease.Type
