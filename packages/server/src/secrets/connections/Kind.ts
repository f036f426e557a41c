import { LeaseId } from "@coffer/domain/base/Ids"
import type { ConnectionTest, TlsMode } from "@coffer/domain/secrets/Connection"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"

/** Why a login or a statement failed. Nothing that the other side said is part of it. */
export type ConnectionReason =
  | "off"
  | "no address"
  | "address refused"
  | "no password"
  | "certificate"
  | "connection"
  | "timeout"
  | "login refused"
  | "renewed login refused"
  | "no database"
  | "no user"
  | "not allowed"
  | "another user"
  | "statement refused"
  | "sessions left"
  | "user left"

const sentences: Readonly<Record<ConnectionReason, string>> = {
  off: "this server renews no credentials: an operator has to set SERVICE_RENEWAL_NETWORKS",
  "no address": "the host has no address",
  "address refused": "the host has an address that is not public: SERVICE_RENEWAL_NETWORKS does not list it",
  "no password": "the secret with the connection's password does not exist, or is a reference",
  certificate: "the host has no valid certificate",
  connection: "the connection failed",
  timeout: "there was no complete response in time",
  "login refused": "the database refused the login: check the connection's user and the secret with its password",
  "renewed login refused": "the database refused the login with the new password",
  "no database": "the database does not exist",
  "no user": "the user does not exist in the database",
  "not allowed": "the connection's user may not do this in the database",
  "another user": "the database logged in another user than the one that was named",
  "statement refused": "the database refused a statement",
  "sessions left": "the user's sessions do not end: its removal is tried again",
  "user left": "the role's statements left the user in the database"
}

export class ConnectionFailed extends Data.TaggedError("ConnectionFailed")<{ readonly reason: ConnectionReason }> {
  override get message() {
    return sentences[this.reason]
  }
}

export interface Login {
  readonly user: string
  readonly password: Redacted.Redacted
}

/** A program to log in to. The address was vetted; the host is the name of its certificate. */
export interface Target {
  readonly host: string
  readonly address: string
  readonly port: number
  readonly database: string
  readonly tls: TlsMode
  readonly ca: string | null
  readonly login: Login
}

/** Things that the login may do. */
export type Abilities = Pick<ConnectionTest, "may_change" | "may_create"> & { readonly version: string }

/** The names of leased users: 32 characters, which every kind of database takes. */
export const leasedUserForm = /^coffer_[0-9a-z]{25}$/

/** The user of a lease. Its name carries the lease's id. */
export const leasedUser = (id: string): string =>
  `coffer_${BigInt(`0x${id.replaceAll("-", "")}`)
    .toString(36)
    .padStart(25, "0")}`

/** The id of the lease that a user's name carries; null if it carries none. */
export const leaseOf = (username: string): LeaseId | null => {
  if (!leasedUserForm.test(username)) return null
  const number = [...username.slice("coffer_".length)].reduce(
    (sum, digit) => sum * 36n + BigInt(parseInt(digit, 36)),
    0n
  )
  const digits = number.toString(16).padStart(32, "0")
  const id = digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")
  return Schema.is(LeaseId)(id) ? id : null
}

/** When the lease of a user was made, in milliseconds; 0 if the name carries none. */
export const leasedSince = (username: string): number =>
  parseInt(leaseOf(username)?.replaceAll("-", "").slice(0, 12) ?? "0", 16)

/** A user to make, which the database itself ends after so long. */
export interface LeasedUser {
  readonly name: string
  readonly password: Redacted.Redacted
  readonly millis: number
}

/** The checks that the server's row still waits for a user. */
export interface Checks<E> {
  /** Runs before the user is made: for databases that commit each statement, which undo it if `confirm` fails. */
  readonly isWanted: Effect.Effect<void, E>
  /** As for `change`. */
  readonly confirm: Effect.Effect<void, E>
}

/** How the server deals with one kind of program. Each is one file, and one row of `kinds`. */
export interface Kind {
  readonly abilities: (target: Target) => Effect.Effect<Abilities, ConnectionFailed>
  /**
   * Sets the password of a user. `confirm` runs before the other side makes it durable: if it fails, nothing is changed. The other
   * side gives up by itself if that does not follow within seconds, so a paused server changes nothing when it wakes.
   */
  readonly change: <E>(
    target: Target,
    login: Login,
    confirm: Effect.Effect<void, E>
  ) => Effect.Effect<void, ConnectionFailed | E>
  /** Logs in as a user. */
  readonly check: (target: Target, login: Login) => Effect.Effect<void, ConnectionFailed>
  /** Makes a leased user by the statements of its role: all of them, or none. */
  readonly create: <E>(
    target: Target,
    user: LeasedUser,
    statements: ReadonlyArray<string>,
    checks: Checks<E>
  ) => Effect.Effect<void, ConnectionFailed | E>
  /** Moves the time after which the database refuses the user. `confirm` as for `change`. */
  readonly extend: <E>(
    target: Target,
    user: Pick<LeasedUser, "millis" | "name">,
    confirm: Effect.Effect<void, E>
  ) => Effect.Effect<void, ConnectionFailed | E>
  /** Ends the sessions of a leased user and removes it. Succeeds once the database says that there is no such user. */
  readonly remove: (
    target: Target,
    name: string,
    statements: ReadonlyArray<string>
  ) => Effect.Effect<void, ConnectionFailed>
  /** The names of all leased users in the database. */
  readonly leased: (target: Target) => Effect.Effect<ReadonlyArray<string>, ConnectionFailed>
  /** The address of a database with the login of a user. */
  readonly urlOf: (at: Pick<Target, "database" | "host" | "port" | "tls">, login: Login) => Redacted.Redacted
}
