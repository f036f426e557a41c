import * as Brand from "effect/Brand"
import type { Scope } from "../Scopes.js"
import { checkFence, type FenceNumber, holdFence } from "./DatabaseFence.js"
import { lockStatements } from "./ScopeLocks.js"

/** The statements that begin a transaction. Made here only, so that none is begun without the fence of the database. */
export type Begin = string & Brand.Brand<"Begin">
const Begin = Brand.nominal<Begin>()

/** How a process begins its transactions. */
export interface Beginnings {
  /** A change, which locks its scopes before it reads. */
  readonly change: (scopes: ReadonlyArray<Scope>) => Begin
  /** Reads of one moment. */
  readonly snapshot: () => Begin
}

const changing = "BEGIN ISOLATION LEVEL READ COMMITTED"
const reading = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"

/** How long a statement of a change may take, and wait for a lock: less than until it counts as lost. */
export interface ChangeLimits {
  readonly lockMillis: number
  readonly statementMillis: number
}

/** The locks of a transaction must not outlive a server that stops in the middle of it. */
const idleMillis = 5_000
/** As long as a server that is silent counts as running. */
const snapshotIdleMillis = 30_000

/**
 * The transactions of a server. The limits are set with BEGIN, because a connection pooler shares its connections. The fence is
 * held first: whoever moves it on waits for the transaction, and a later one fails at once.
 */
export const ofServer = (fence: FenceNumber, limits: () => ChangeLimits): Beginnings => ({
  change: (scopes) => {
    const { lockMillis, statementMillis } = limits()
    return Begin(
      `${changing}; SET LOCAL lock_timeout = ${lockMillis}; SET LOCAL idle_in_transaction_session_timeout = ${idleMillis}; ` +
        `SET LOCAL statement_timeout = ${statementMillis}; ${holdFence(fence)}${lockStatements(scopes)}`
    )
  },
  snapshot: () =>
    Begin(`${reading}; SET LOCAL idle_in_transaction_session_timeout = ${snapshotIdleMillis}; ${checkFence(fence)}`)
})

/**
 * The transactions of an offline command, which moves the fence itself. It waits for locks only as long as a server that still
 * writes. It may be idle while it reads another database.
 */
export const ofCommand: Beginnings = {
  change: (scopes) => Begin(`${changing}; SET LOCAL lock_timeout = '10s'${lockStatements(scopes)}`),
  snapshot: () => Begin(reading)
}
