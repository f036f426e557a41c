import * as Effect from "effect/Effect"
import { run, type RunArguments } from "./RunWithSecrets.js"
import { endAs, type Signals } from "./Signals.js"

/** Where `coffer run` starts: its arguments are split, and signals have somebody to take them. */
export const start = async (command: RunArguments, version: string, signals: Signals): Promise<void> =>
  endAs(await Effect.runPromise(run(command, version, signals)))

/** Where `coffer render` starts. It shares most of its code with `run`, which does not load the rest. */
export const startRender = async (argv: ReadonlyArray<string>, version: string): Promise<boolean> => {
  const { start } = await import("./render/main.js")
  return start(argv, version)
}
