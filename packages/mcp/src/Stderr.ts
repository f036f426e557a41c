import { plain } from "./Plain.js"

/** Writes a line to standard error. Standard output carries the protocol. */
export const note = (line: string): void => void process.stderr.write(`coffer-mcp: ${plain(line)}\n`)
