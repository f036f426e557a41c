import { rmSync } from "node:fs"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ServerProcess } from "./ServerProcess.js"
import { findServer, processVariables } from "./TestSettings.js"

/** The line of `coffer-server dev --json`. */
const decodeLine = (text: string) => {
  const line: unknown = JSON.parse(text)
  const textOf = (name: "api_key" | "place" | "url") => {
    const fields: Readonly<Partial<Record<typeof name, unknown>>> =
      typeof line === "object" && line !== null ? line : {}
    const found = fields[name]
    if (typeof found !== "string") throw new Error(`the server did not say its ${name}`)
    return found
  }
  return { url: textOf("url"), apiKey: textOf("api_key"), place: textOf("place") }
}

const failed = (message: string) => Promise.reject(new Error(message))

/** Folders to remove when this process ends without `close`. */
const folders = new Set<string>()
process.once("exit", () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** `coffer-server dev` in a folder of this process, so that it can be killed and started again on the same data. */
export const startProcess = async (
  seed: Readonly<Record<string, Readonly<Record<string, string>>>>,
  {
    command,
    env
  }: { readonly command?: readonly [string, ...Array<string>]; readonly env?: Readonly<Record<string, string>> }
) => {
  const program = command ?? findServer()
  if (program === undefined) {
    return failed(
      "@coffer/server is not installed in this project: install it beside @coffer/client (npm install --save-dev @coffer/server), or name its program with the option `command`"
    )
  }
  // Named as the server names its own: the next server removes what a process leaves that is killed.
  const folder = await mkdtemp(join(tmpdir(), `coffer-dev-${process.pid}-`))
  folders.add(folder)
  const discard = async () => {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 })
    folders.delete(folder)
  }

  const launch = async (args: ReadonlyArray<string>, port = "0") => {
    const words = ["dev", "--json", "--attached", "--folder", join(folder, "data"), ...args]
    const server = new ServerProcess([...program, ...words], {
      env: { ...processVariables(), ...env, SERVICE_PORT: port }
    })
    const [text] = await server.out
      .said(/^\{.*\}\n/)
      .catch(() => server.ended.then(() => failed(`the server did not start: ${server.err.text.trim()}`)))
    server.holds(false)
    return { server, line: decodeLine(text) }
  }

  const seedFile = join(folder, "seed.json")
  await writeFile(seedFile, JSON.stringify(seed), { mode: 0o600 })
  const first = await launch(["--seed", seedFile]).catch(async (error: unknown) => {
    await discard()
    return failed(error instanceof Error ? error.message : String(error))
  })
  await rm(seedFile)
  const { line } = first
  let current: ServerProcess | null = null
  const run = (server: ServerProcess) => {
    current = server
    const forget = () => {
      if (current === server) current = null
    }
    server.ended.then(forget, forget)
  }
  run(first.server)

  const end = async (signal: NodeJS.Signals) => {
    await current?.stop(signal)
  }
  return {
    line,
    stop: () => end("SIGKILL"),
    start: async () => {
      if (current !== null) return failed("the server runs: stop it first")
      run((await launch([], new URL(line.url).port)).server)
    },
    close: () => end("SIGTERM").then(discard)
  }
}
