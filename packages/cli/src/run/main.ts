import * as Effect from "effect/Effect"
import { run, type RunArguments } from "./Run.js"
import { dieOf, type Signals } from "./Signals.js"

/** Where `coffer run` starts: its arguments are split, and signals have somebody to take them. */
export const start = async (command: RunArguments, version: string, signals: Signals): Promise<void> => {
  const outcome = await Effect.runPromise(run(command, version, signals))
  if (outcome.type === "signal") return dieOf(outcome.signal)
  process.exit(outcome.code)
}
