import { writeSync } from "node:fs"

/**
 * Puts plain writers in the place of the standard streams. Node's own make a pipe non-blocking at the first look, for
 * everyone who shares it, the command too; and libraries look when they are loaded, so this stands before them.
 */
export const keepBlocking = (): void => {
  for (const [name, descriptor] of [
    ["stdout", 1],
    ["stderr", 2]
  ] as const) {
    const value = { isTTY: false, write: (text: string) => writeSync(descriptor, text) > 0 }
    Object.defineProperty(process, name, { value })
  }
}
