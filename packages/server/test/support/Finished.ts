import { spawn } from "node:child_process"
import { once } from "node:events"
import { text } from "node:stream/consumers"
import { assert } from "vitest"
import { masterKey, pgWarning, type Variables } from "./Program.js"

/** Runs one of the programs to its end, in a folder and with these variables alone. */
export const finished = async (folder: string, args: ReadonlyArray<string>, env: Variables) => {
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { PATH: process.env["PATH"], HOME: folder, SERVICE_MASTER_KEY: masterKey, ...env },
    stdio: ["ignore", "pipe", "pipe"]
  })
  const [said, warned, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")])
  assert.notMatch(warned, pgWarning)
  return { code: code as number | null, said, warned }
}
