import * as Effect from "effect/Effect"
import { FailureForm, failureFormOf } from "../program/FailureForm.js"
import { exitCodes } from "../base/Failures.js"
import { ended, runProgram } from "../program/Program.js"
import { entryFor } from "./Entry.js"

/**
 * Where `coffer secret get`, `set` and `list` start.
 *
 * @param argv the arguments after `secret`
 * @returns whether the command line is one that starts here: others are for the full client
 */
export const start = (argv: ReadonlyArray<string>, version: string): boolean => {
  const command = entryFor(argv)
  if (command === undefined) return false
  const execution = ended(Effect.as(Effect.scoped(command), exitCodes.done))
  runProgram(Effect.provideService(execution, FailureForm, failureFormOf(argv)), version)
  return true
}
