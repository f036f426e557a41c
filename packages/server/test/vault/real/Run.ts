import { spawn } from "node:child_process"
import { accessSync, constants } from "node:fs"
import { join } from "node:path"
import type { Variables } from "../../support/Program.js"

export interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

interface How {
  readonly cwd?: string
  /** Called when the program has printed the line `waiting`; afterwards it is sent a line. */
  readonly between?: (() => Promise<void>) | undefined
  /** When it is asked to stop. Without, it ends by itself. */
  readonly until?: Promise<void> | undefined
  readonly seconds?: number
  /** The text on its standard input. */
  readonly input?: string | undefined
}

const path = process.env["PATH"] ?? ""

const isExecutable = (file: string): boolean => {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** The folder of the PATH that holds a program, or undefined. */
export const folderOf = (program: string): string | undefined =>
  path.split(":").find((folder) => folder !== "" && isExecutable(join(folder, program)))

export const isThere = (program: string): boolean => folderOf(program) !== undefined

/** Runs a program to its end. One that goes on too long is killed. */
export const run = (
  program: string,
  words: ReadonlyArray<string>,
  variables: Variables,
  { between, cwd, input, seconds = 30, until }: How = {}
): Promise<Ran> =>
  new Promise((resolve) => {
    const env = { PATH: path, ...variables }
    const child = spawn(program, words, { env, cwd, timeout: seconds * 1000, killSignal: "SIGKILL" })
    let [out, err] = ["", ""]
    let isWaiting = between !== undefined
    child.stdin.on("error", () => undefined)
    if (!isWaiting) child.stdin.end(input)
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      out += text
      if (!isWaiting || !/^waiting$/m.test(out)) return
      isWaiting = false
      void between?.().then(() => child.stdin.end("\n"))
    })
    child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text))
    void until?.then(() => child.kill("SIGINT"))
    child.on("close", (code) => {
      resolve({ code, out, err })
    })
  })
