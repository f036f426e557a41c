import { Predicate } from "effect"

const fullCodes: ReadonlyArray<unknown> = ["ENOSPC", "EDQUOT", "SQLITE_FULL", "SQLITE_IOERR_SHMSIZE"]

/** Whether what a file operation or a statement threw, or its cause, is that the disk has no room left. */
export const isDiskFull = (error: unknown): boolean =>
  (Predicate.hasProperty(error, "code") && fullCodes.includes(error.code)) ||
  // An error that comes from another thread has lost its code.
  (error instanceof Error && error.message === "database or disk is full") ||
  (Predicate.hasProperty(error, "cause") && isDiskFull(error.cause))

/** Whether what a statement threw, or its cause, is that another connection holds the lock. */
export const isBusy = (error: unknown): boolean =>
  (Predicate.hasProperty(error, "code") &&
    typeof error.code === "string" &&
    (error.code === "SQLITE_BUSY" || error.code.startsWith("SQLITE_BUSY_"))) ||
  (Predicate.hasProperty(error, "cause") && isBusy(error.cause))

/** What a file operation or a statement threw, in words for an operator. */
export const reasonOf = (error: unknown): string =>
  isDiskFull(error) ? "the disk is full" : error instanceof Error ? error.message : "unknown reason"
