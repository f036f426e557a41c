import type { Closable } from "./Closable.js"
import type { Reloaded } from "./Reloaded.js"

/** A user of a database that was made for this program. */
export interface LeasedCredential {
  /** The id of the lease. */
  readonly id: string
  readonly username: string
  readonly password: string
  /** The address of the database with user and password. */
  readonly url: string
}

export interface LeaseOptions {
  /** How long each lease lasts without a renewal, such as `30m`. By default, what the role says. */
  readonly ttl?: string
  /** How many milliseconds a replaced credential stays valid, for what still uses it. By default, 60,000. */
  readonly overlap?: number
}

/** A credential that is renewed, and replaced before it ends. */
export interface Lease extends Closable {
  /** The credential of now. */
  readonly credential: LeasedCredential
  /** Calls back with each credential that replaces another. Returns a function that ends it. */
  readonly onChange: (listener: (credential: LeasedCredential) => void) => () => void
  /** Opens a resource with the credential, and opens it again with the one that replaces it. As `reload` of a connection. */
  readonly reload: <A>(
    open: (credential: LeasedCredential) => A | PromiseLike<A>,
    close?: (resource: A) => unknown
  ) => Promise<Reloaded<A>>
  /** Closes what `reload` has opened, once the work with it has ended, then ends the lease. */
  readonly close: () => Promise<void>
}
