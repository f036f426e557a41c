import { execute } from "./Execute.js"
import { runProgram } from "./program/Program.js"

/** Starts the client: every command but those with an entry of their own. */
export const start = (argv: ReadonlyArray<string>, version: string): void => runProgram(execute(argv), version)
