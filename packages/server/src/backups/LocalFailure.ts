import { Data, Predicate } from "effect"

/** What goes wrong on this machine: the disk, or a copy that is not sound. The reason is for the log. */
export class LocalFailure extends Data.TaggedError("LocalFailure")<{
  readonly reason: string
  /** Whether it is that the disk is full. */
  readonly full: boolean
}> {}

const fullCodes: ReadonlyArray<unknown> = ["ENOSPC", "EDQUOT", "SQLITE_FULL"]

export const localFailure = (error: unknown): LocalFailure =>
  new LocalFailure({
    reason: error instanceof Error ? error.message : String(error),
    full:
      (Predicate.hasProperty(error, "code") && fullCodes.includes(error.code)) ||
      // An error that comes from another thread has lost its code.
      (error instanceof Error && error.message === "database or disk is full")
  })
