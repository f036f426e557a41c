import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import { readUnfinished } from "../grammar/CompletionSyntax.js"
import { offersFor } from "./Offers.js"

/** A person waits. */
const patience = "1 second"

/**
 * Returns the completions of the unfinished word of a command line. Returns an empty list on any failure, because nobody
 * would read the reason.
 */
export const complete = ([syntax = "", index, ...words]: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<string>> =>
  Effect.suspend(() => Effect.fromNullable(readUnfinished(syntax, Number(index), words))).pipe(
    Effect.flatMap(offersFor),
    Effect.scoped,
    Effect.timeout(patience),
    Effect.catchAllCause(() => Effect.succeed([])),
    Logger.withMinimumLogLevel(LogLevel.None)
  )
