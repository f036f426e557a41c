import type { Call } from "./CallTypes.js"
import type { Closable } from "./Closable.js"
import type { Lease, LeaseOptions } from "./LeasedUser.js"
import type { Reloaded } from "./Reloaded.js"

/** The options of `connect`. Times are in milliseconds. */
export interface ConnectOptions {
  /** The address of the server, such as `https://coffer.example.com`. */
  readonly server: string
  /** The environment, as ORGANIZATION/PROJECT/ENVIRONMENT. */
  readonly place: string
  /** By default, the API key in `SERVICE_API_KEY` or `SERVICE_API_KEY_FILE`, or else the account in `SERVICE_ACCOUNT`. */
  readonly credential?:
    { readonly apiKey: string } | { readonly account: string; readonly token?: string } | { readonly session: "stored" }
  /** Reads only these keys. By default, reads all. */
  readonly keys?: ReadonlyArray<string>
  /** How often to ask for changes. By default, every 30,000. */
  readonly every?: number
  /** Keeps an encrypted copy of the values for starts without the server. */
  readonly offline?: { readonly folder: string; readonly maxAge: number }
  /** The name of the application for the audit log, such as `shop` or `shop 1.4.0`. */
  readonly name?: string
  /** Receives warnings, as when the environment cannot be read. By default, they are warnings of the process. */
  readonly onWarning?: (message: string) => void
}

/** A change of an environment: keys and no values. */
export interface Change {
  /** The keys that are new, have another value or are gone. */
  readonly keys: ReadonlyArray<string>
}

/** The secrets of an environment at one moment. */
export interface PlainSnapshot {
  /** ORGANIZATION/PROJECT/ENVIRONMENT. */
  readonly place: string
  /** The revision of the environment. Undefined if the values come from the offline copy. */
  readonly revision: number | undefined
  /** The milliseconds since the server last confirmed these values. */
  readonly age: number
  readonly values: ReadonlyMap<string, string>
  /** The keys without a value because their references are refused, each with the server's sentence. */
  readonly refused: ReadonlyMap<string, string>
}

/** The secrets of an environment, kept up to date. They do not keep the process alive. */
export interface Connection extends Closable {
  /** The value of a key. Throws `MissingSecretError`. */
  readonly get: (key: string) => string
  /** All values by key. */
  readonly all: () => Readonly<Record<string, string>>
  /** The current values with their revision and age. */
  readonly snapshot: () => PlainSnapshot
  /** Calls back after each change. Returns a function that ends it. */
  readonly onChange: (listener: (change: Change) => void) => () => void
  /** Reads the environment now. Rejects with `CofferError`; the last values stay. */
  readonly refresh: () => Promise<void>
  /**
   * Opens a resource with the values of some keys, and opens it again when one of them changes. The new one replaces the old one,
   * which is closed once its users have ended. While the new one cannot be opened, the old one stays, and the client tries again.
   *
   * @param open must fail if the resource does not work, such as a pool of connections with a wrong password
   */
  readonly reload: <Key extends string, A>(
    keys: ReadonlyArray<Key>,
    open: (values: Readonly<Record<Key, string>>) => A | PromiseLike<A>,
    close?: (resource: A) => unknown
  ) => Promise<Reloaded<A>>
  readonly call: Call
  /**
   * Leases a user of a database by a role of the environment. It is renewed, replaced before its end, and ends with `close` of the
   * lease or the connection. Rejects with `CallError`.
   */
  readonly lease: (role: string, options?: LeaseOptions) => Promise<Lease>
  /** Ends the leases and the requests for changes, and closes what `reload` has opened, once the work with it has ended. */
  readonly close: () => Promise<void>
}
