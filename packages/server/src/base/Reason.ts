import * as Predicate from "effect/Predicate"

const fullCodes: ReadonlyArray<unknown> = ["ENOSPC", "EDQUOT", "SQLITE_FULL", "SQLITE_IOERR_SHMSIZE", "53100"]

/** Whether an error of a file operation or a statement, or its cause, means that the disk is full. */
export const isDiskFull = (error: unknown): boolean =>
  (Predicate.hasProperty(error, "code") && fullCodes.includes(error.code)) ||
  // An error from a worker thread has lost its code.
  (error instanceof Error && error.message === "database or disk is full") ||
  (Predicate.hasProperty(error, "cause") && isDiskFull(error.cause))

/** Whether an error of a statement, or its cause, means that another connection holds the lock. */
export const isBusy = (error: unknown): boolean =>
  (Predicate.hasProperty(error, "code") &&
    typeof error.code === "string" &&
    (error.code === "SQLITE_BUSY" || error.code.startsWith("SQLITE_BUSY_"))) ||
  (Predicate.hasProperty(error, "cause") && isBusy(error.cause))

/** Whether an error of a statement, or its cause, means that it waited for a lock of PostgreSQL for too long. */
export const isLockTimeout = (error: unknown): boolean =>
  Predicate.hasProperty(error, "code")
    ? error.code === "55P03"
    : Predicate.hasProperty(error, "cause") && isLockTimeout(error.cause)

/** The code of an error of Node, such as ENOENT. */
export const codeOf = (error: unknown): string | undefined =>
  Predicate.hasProperty(error, "code") && typeof error.code === "string" ? error.code : undefined

/**
 * The reason of a failed file operation or statement, in words for an operator. The error of a connection to a host with several
 * addresses has only a code, and so has SQLite's error from a thread.
 */
export const reasonOf = (error: unknown): string => {
  if (isDiskFull(error)) return "the disk is full"
  if (typeof error === "string") return error
  return (error instanceof Error && error.message) || (codeOf(error) ?? "unknown reason")
}

/** The reason of the innermost cause. */
export const rootReason = (error: unknown): string =>
  Predicate.hasProperty(error, "cause") && error.cause !== undefined ? rootReason(error.cause) : reasonOf(error)
