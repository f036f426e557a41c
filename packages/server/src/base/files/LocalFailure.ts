import * as Data from "effect/Data"
import { isDiskFull, reasonOf } from "../Reason.js"

/** A failure on this machine, such as a full disk or a damaged copy. The reason is for the log only. */
export class LocalFailure extends Data.TaggedError("LocalFailure")<{
  readonly reason: string
  /** Whether the disk is full. */
  readonly full: boolean
}> {}

export const localFailure = (error: unknown): LocalFailure =>
  new LocalFailure({ reason: reasonOf(error), full: isDiskFull(error) })
