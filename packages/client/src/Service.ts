import type { Call } from "./internal/Call.js"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type * as Stream from "effect/Stream"
import type * as Scope from "effect/Scope"
import type { MissingSecret, ReadError } from "./Errors.js"
import type { Leased, LeaseFailed, LeaseOptions } from "./Lease.js"

/** The secrets of an environment at one moment. */
export interface Snapshot {
  /** ORGANIZATION/PROJECT/ENVIRONMENT. */
  readonly place: string
  /** The revision of the environment. Undefined if the values come from the offline copy. */
  readonly revision: number | undefined
  /** The time since the server last confirmed these values. */
  readonly age: Duration.Duration
  readonly values: ReadonlyMap<string, Redacted.Redacted>
  /** The keys without a value because their references are refused, each with the server's sentence. */
  readonly refused: ReadonlyMap<string, string>
}

export interface CofferService {
  /** The current values. Never fails: while the server cannot be read, the last good values stay. */
  readonly snapshot: Effect.Effect<Snapshot>
  /** The current value of a key. */
  readonly get: (key: string) => Effect.Effect<Redacted.Redacted, MissingSecret>
  /** The current values, then the new values after each change. Many writes within a second are one change. */
  readonly changes: Stream.Stream<Snapshot>
  /** Reads the environment now. */
  readonly refresh: Effect.Effect<Snapshot, ReadError>
  readonly call: Call
  /** Leases a user of a database by a role of the environment. It is renewed, replaced before its end, and ends with the scope. */
  readonly lease: (role: string, options?: LeaseOptions) => Effect.Effect<Leased, LeaseFailed, Scope.Scope>
}

/** Changes the secrets of `Coffer.layerTest`. */
export interface TestCofferService {
  /** Writes a secret and publishes the change. */
  readonly set: (key: string, value: string) => Effect.Effect<void>
  /** Removes a secret and publishes the change. */
  readonly remove: (key: string) => Effect.Effect<void>
}
