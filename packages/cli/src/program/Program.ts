import type { Teardown } from "@effect/platform/Runtime"
import { runMain } from "@effect/platform-node/NodeRuntime"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import { reportFailure } from "./FailureForm.js"
import { exitCodes, type Failure } from "../base/Failures.js"
import { type Input, standardInput } from "../terminal/Input.js"
import { type Output, ReaderGone, streams } from "../terminal/Output.js"
import { defectSentence, warnings } from "../terminal/Print.js"
import { Version } from "../base/Version.js"

/** The end of every command: explains what it failed with. Returns the exit code. */
export const ended = <R>(execution: Effect.Effect<number, Failure, R>): Effect.Effect<number, never, R | Output> =>
  execution.pipe(
    Effect.catchAll((failure) =>
      // Loaded late: the errors of the contract are not needed where nothing fails.
      Effect.flatMap(
        Effect.promise(() => import("./Explain.js")),
        ({ explain }) => explain(failure)
      )
    ),
    Effect.catchAllCause((cause) => {
      if (Cause.isInterruptedOnly(cause)) return Effect.failCause(cause)
      if (Cause.squash(cause) instanceof ReaderGone) return Effect.succeed(exitCodes.readerGone)
      return Effect.as(reportFailure("DEFECT", [defectSentence(cause)]), exitCodes.failed)
    }),
    Effect.provide(warnings)
  )

/** Ends the process with the code that `execution` returns; after ctrl-C, with 130, as a shell does. */
const teardown: Teardown = (exit, onExit) => {
  if (Exit.isSuccess(exit)) return onExit(typeof exit.value === "number" ? exit.value : exitCodes.failed)
  onExit(Cause.isInterruptedOnly(exit.cause) ? 130 : exitCodes.failed)
}

/**
 * Runs a command in this process.
 *
 * @param output the streams, or the descriptors for a command that starts another one on them.
 */
export const runProgram = (
  execution: Effect.Effect<number, never, Input | Output>,
  version: string,
  output = streams
): void =>
  runMain(
    execution.pipe(Effect.provide(Layer.provideMerge(standardInput, output)), Effect.provideService(Version, version)),
    // The runtime's own logger would replace ours, and writes to standard output.
    { disableErrorReporting: true, disablePrettyLogger: true, teardown }
  )
