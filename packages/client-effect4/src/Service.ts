import type { Duration, Effect, Redacted, Scope, Stream } from "effect"
import type { Call, CallError } from "./Call.js"
import type { MissingSecret, ReadError } from "./Errors.js"

export interface Options {
  /** The address of the server, such as `https://coffer.example.com`. */
  readonly server: string
  /** The environment, as ORGANIZATION/PROJECT/ENVIRONMENT. */
  readonly place: string
  /** By default, the API key in `SERVICE_API_KEY` or `SERVICE_API_KEY_FILE`, or else the account in `SERVICE_ACCOUNT`. */
  readonly credential?:
    | { readonly apiKey: Redacted.Redacted }
    | { readonly account: string; readonly token?: Redacted.Redacted }
    /** The session of the person who has run `coffer login` on this machine: for development. */
    | { readonly session: "stored" }
  /** Reads only these keys. By default, reads all. */
  readonly keys?: ReadonlyArray<string>
  /** How often to ask for changes. By default, every 30 seconds. */
  readonly every?: Duration.Input
  /** Keeps an encrypted copy of the values for starts without the server. `coffer run --offline-fallback` can share it. */
  readonly offline?: { readonly folder: string; readonly maxAge: Duration.Input }
  /** The name of the application for the audit log, such as `shop` or `shop 1.4.0`. */
  readonly name?: string
}

/** A user of a database that was made for this program. */
export interface Credential {
  /** The id of the lease. */
  readonly id: string
  readonly username: string
  readonly password: Redacted.Redacted
  /** The address of the database with user and password. */
  readonly url: Redacted.Redacted
}

export interface LeaseOptions {
  /** How long each lease lasts without a renewal, such as `30m`. By default, what the role says. */
  readonly ttl?: string
  /** How long a replaced credential stays valid, for what still uses it. By default, a minute. */
  readonly overlap?: Duration.Input
}

/** A credential that is renewed, and replaced before it ends. */
export interface Leased {
  /** The credential of now. */
  readonly credential: Effect.Effect<Credential>
  /** The credential of now, then each that replaces it. */
  readonly changes: Stream.Stream<Credential>
}

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
  readonly lease: (role: string, options?: LeaseOptions) => Effect.Effect<Leased, CallError<string>, Scope.Scope>
}
