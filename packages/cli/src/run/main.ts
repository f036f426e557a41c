import { Effect } from "effect"
import { writeSync } from "node:fs"
import { run } from "../Run.js"
import type { RunCommand } from "./Prepare.js"
import { dieOf, type Signals } from "./Signals.js"

/**
 * Puts plain writers in the place of the standard streams. Node's own make a pipe non-blocking at the first look, for
 * everyone who shares it, the command too; and libraries look when they are loaded.
 */
const keepBlocking = () => {
  for (const [name, descriptor] of [
    ["stdout", 1],
    ["stderr", 2]
  ] as const) {
    const value = { isTTY: false, write: (text: string) => writeSync(descriptor, text) > 0 }
    Object.defineProperty(process, name, { value })
  }
}

/** Where `coffer run` starts: its arguments are split, and signals have somebody to take them. */
export const start = async (command: RunCommand, version: string, signals: Signals): Promise<void> => {
  keepBlocking()
  const outcome = await Effect.runPromise(run(command, version, signals))
  if (outcome.type === "signal") return dieOf(outcome.signal)
  process.exit(outcome.code)
}
