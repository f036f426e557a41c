import { plain } from "./Plain.js"

/** Something to know, for whoever runs the program: on standard error, because standard output is the protocol's. */
export const note = (line: string): void => void process.stderr.write(`coffer-mcp: ${plain(line)}\n`)
