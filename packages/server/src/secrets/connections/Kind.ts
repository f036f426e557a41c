import type { ConnectionTest, TlsMode } from "@coffer/domain/secrets/Connection"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"

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
  | "no database"
  | "no user"
  | "not allowed"
  | "another user"
  | "statement refused"

const sentences: Readonly<Record<ConnectionReason, string>> = {
  off: "this server renews no credentials: an operator has to set SERVICE_RENEWAL_NETWORKS",
  "no address": "the host has no address",
  "address refused": "the host has an address that is not public: SERVICE_RENEWAL_NETWORKS does not list it",
  "no password": "the secret with the connection's password does not exist, or is a reference",
  certificate: "the host has no valid certificate",
  connection: "the connection failed",
  timeout: "there was no complete response in time",
  "login refused": "the database refused the login",
  "no database": "the database does not exist",
  "no user": "the user does not exist in the database",
  "not allowed": "the connection's user may not do this in the database",
  "another user": "the database logged in another user than the one that was named",
  "statement refused": "the database refused a statement"
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
}
