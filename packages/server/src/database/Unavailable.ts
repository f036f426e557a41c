import * as Data from "effect/Data"

/** A defect of a read or a transaction that found no database, or lost it. Nothing was changed. */
export class DatabaseUnavailable extends Data.TaggedError("DatabaseUnavailable")<{
  readonly cause: unknown
  /** Whether the database was reached, and took too long to answer. */
  readonly isSlow?: boolean
}> {
  override get message(): string {
    return this.isSlow === true
      ? "the database took too long to respond: nothing was changed"
      : "the database cannot be reached: nothing was changed"
  }
}

/**
 * A defect of a transaction whose COMMIT was sent, and whose connection was lost before the answer. The change may have
 * been made: only reading it shows this.
 */
export class OutcomeUnknown extends Data.TaggedError("OutcomeUnknown")<{ readonly cause: unknown }> {
  override readonly message =
    "the connection to the database was lost while a change was committed: it may have been made"
}

/** A defect of a read or a transaction that found all connections in use for seconds. Nothing was changed. */
export class DatabaseBusy extends Data.TaggedError("DatabaseBusy") {
  override readonly message = "all connections to the database are in use: nothing was changed"
}

/** Whether a transaction failed because of the database, and certainly changed nothing. */
export const hasChangedNothing = (error: unknown): boolean =>
  error instanceof DatabaseUnavailable || error instanceof DatabaseBusy
