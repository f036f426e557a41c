import { Data } from "effect"
import { isDiskFull } from "../database/Reason.js"

/** What goes wrong on this machine: the disk, or a copy that is not sound. The reason is for the log. */
export class LocalFailure extends Data.TaggedError("LocalFailure")<{
  readonly reason: string
  /** Whether it is that the disk is full. */
  readonly full: boolean
}> {}

export const localFailure = (error: unknown): LocalFailure =>
  new LocalFailure({
    reason: error instanceof Error ? error.message : String(error),
    full: isDiskFull(error)
  })
