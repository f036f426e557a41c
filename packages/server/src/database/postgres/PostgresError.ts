import * as SqlError from "@effect/sql/SqlError"
import * as Data from "effect/Data"
import { DatabaseError } from "pg"
import { movedCode } from "./MovedCode.js"

/**
 * An error that PostgreSQL reported. Details, such as the values of a duplicate key, are left out, because errors are
 * logged.
 */
export class PostgresError extends Data.Error<{
  readonly message: string
  /** The SQLSTATE. */
  readonly code: string
  /** Whether PostgreSQL closed the connection with this error. */
  readonly isFatal: boolean
}> {}

/** The connection failed: the server did not answer a statement, or could not be reached. */
export class ConnectionLost extends Data.Error<{
  readonly message: string
  /** Whether it was reached, and a statement took longer than its limit. */
  readonly isSlow: boolean
}> {}

/** The driver's error of a statement that was not answered in time. */
const slow = "Query read timeout"

/**
 * The SQLSTATE classes and codes after which a connection is unusable: connection exceptions, shutdowns, no free slot, and a
 * primary that has become a standby.
 */
const lostCodes = /^(08|57P0[1-4]|53300|25006)/

/** The messages of class 22 (data exceptions) quote the value of a parameter. */
const messageOf = ({ code, message }: DatabaseError): string =>
  code?.startsWith("22") === true ? `a value does not fit its column or operator (SQLSTATE ${code})` : message

/** Converts an error of the driver. An error without a SQLSTATE comes from the connection. */
const causeOf = (error: Error): PostgresError | ConnectionLost => {
  if (!(error instanceof DatabaseError))
    return new ConnectionLost({ message: error.message, isSlow: error.message === slow })
  const { code = "", severity } = error
  if (lostCodes.test(code)) return new ConnectionLost({ message: `${error.message} (SQLSTATE ${code})`, isSlow: false })
  return new PostgresError({ message: messageOf(error), code, isFatal: severity === "FATAL" || severity === "PANIC" })
}

export const sqlErrorOf = (error: Error): SqlError.SqlError =>
  new SqlError.SqlError({ cause: causeOf(error), message: "Failed to execute statement" })

/** The failure of a statement on a connection that was closed before. */
export const connectionClosed = sqlErrorOf(new Error("the connection was closed"))

/** Whether the connection of a failed statement cannot be used again. */
export const isLost = ({ cause }: SqlError.SqlError): boolean =>
  cause instanceof ConnectionLost || (cause instanceof PostgresError && cause.isFatal)

/** Whether a statement found that the database has another fence than this process knows. */
export const isMoved = ({ cause }: SqlError.SqlError): boolean =>
  cause instanceof PostgresError && cause.code === movedCode

/** Whether a statement was not answered in time, and nothing else is known to be wrong with its connection. */
export const isSlow = ({ cause }: SqlError.SqlError): boolean => cause instanceof ConnectionLost && cause.isSlow

/** A serialization failure or a deadlock: the transaction was rolled back, and succeeds if it is run again. */
const retryable: ReadonlyArray<unknown> = ["40001", "40P01"]

export const isRetryableCode = (code: unknown): boolean => retryable.includes(code)

export const isRetryable = ({ cause }: SqlError.SqlError): boolean =>
  cause instanceof PostgresError && isRetryableCode(cause.code)
