import type { Teardown } from "@effect/platform/Runtime"
import { runMain } from "@effect/platform-node/NodeRuntime"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import { execute } from "./Execute.js"
import { exitCodes } from "./Failures.js"
import { standardInput } from "./terminal/Input.js"
import { streams } from "./terminal/Output.js"
import { Version } from "./Version.js"

/** Ends the process with the code that `execute` returns; after ctrl-C, with 130, as a shell does. */
const teardown: Teardown = (exit, onExit) => {
  if (Exit.isSuccess(exit)) return onExit(typeof exit.value === "number" ? exit.value : exitCodes.failed)
  onExit(Cause.isInterruptedOnly(exit.cause) ? 130 : exitCodes.failed)
}

/** Starts the client: every command but `run`. */
export const start = (argv: ReadonlyArray<string>, version: string): void =>
  runMain(
    execute(argv).pipe(
      Effect.provide(Layer.provideMerge(standardInput, streams)),
      Effect.provideService(Version, version)
    ),
    // The runtime's own logger would replace ours, and writes to standard output.
    { disableErrorReporting: true, disablePrettyLogger: true, teardown }
  )
