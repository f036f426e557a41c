import * as Context from "effect/Context"
import type { Socket } from "node:net"

/** A certificate with its key in PEM form. */
export interface PemPair {
  readonly cert: string
  readonly key: string
}

/** The connections that another process accepts, and hands to this one. */
export interface Handed {
  /** Null: plain HTTP. */
  readonly certificate: PemPair | null
  /** Calls back with each connection, also those that came before. Nothing is read of it yet. */
  readonly onConnection: (listener: (socket: Socket) => void) => void
  /** Calls back with each renewed certificate. */
  readonly onCertificate: (listener: (pair: PemPair) => void) => void
}

/** Where the server gets its connections from; null: it listens itself. */
export class HandedConnections extends Context.Reference<HandedConnections>()("@coffer/server/HandedConnections", {
  defaultValue: (): Handed | null => null
}) {}
