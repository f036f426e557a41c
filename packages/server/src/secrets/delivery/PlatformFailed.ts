import * as Data from "effect/Data"

/** Why a platform did not do it. It holds nothing of a response or a value. */
export class PlatformFailed extends Data.TaggedError("PlatformFailed")<{
  readonly reason: string
  /** Whether the platform certainly did nothing. */
  readonly isUndone: boolean
  /** How long the platform asks to be left alone. */
  readonly retryAfterSeconds?: number
}> {
  override get message() {
    return this.reason
  }
}
