import * as Data from "effect/Data"

/** A failure to start, with a message for the operator. */
export class StartupError extends Data.TaggedError("StartupError")<{ readonly message: string }> {}
