import { Data } from "effect"

/** Why the server does not start, in a sentence for the operator. */
export class StartupError extends Data.TaggedError("StartupError")<{ readonly message: string }> {}
