import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert } from "vitest"
import type { Json } from "../support/Program.js"

const bin = fileURLToPath(new URL("../../bin/coffer-server.js", import.meta.url))

const root = mkdtempSync(join(tmpdir(), "coffer-dev-tests-"))
const running = new Set<() => void>()
afterAll(() => {
  for (const kill of running) kill()
  rmSync(root, { recursive: true })
})

/** A directory of temporary files with nothing but a seed beside it. */
export const place = (seed: unknown = { dev: { A: "1" } }) => {
  const folder = mkdtempSync(join(root, "place-"))
  const [tmp, file] = [mkdtempSync(join(folder, "tmp-")), join(folder, "seed.json")]
  writeFileSync(file, JSON.stringify(seed))
  return { tmp, file, left: () => readdirSync(tmp) }
}

type Variables = Readonly<Record<string, string>>

/** Starts the command with a directory of temporary files of its own. */
export const start = (tmp: string, args: ReadonlyArray<string>, variables: Variables = {}) => {
  const child = spawn(process.execPath, [bin, "dev", ...args], {
    cwd: tmp,
    env: { PATH: process.env["PATH"], TMPDIR: tmp, ...variables }
  })
  const kill = () => child.kill("SIGKILL")
  running.add(kill)
  const said = { out: "", err: "" }
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said.err += text))
  const ended = once(child, "close").then(([code]: Array<Json>) => {
    running.delete(kill)
    return { code: code as number | null, ...said }
  })
  const first = new Promise<string>((resolve) => {
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      said.out += text
      if (said.out.endsWith("\n")) resolve(said.out)
    })
  })
  const out = Promise.race([first, ended.then(({ err }) => assert.fail(`it ended: ${err}`))])
  out.catch(() => undefined)
  return { child, ended, out, said, stop: (signal: NodeJS.Signals) => (child.kill(signal), ended) }
}

/** Starts a server, and reads its line. */
export const served = async (...parameters: Parameters<typeof start>) => {
  const program = start(parameters[0], ["--json", ...parameters[1]], parameters[2])
  const line: Json = JSON.parse(await program.out)
  assert.deepStrictEqual(Object.keys(line), ["url", "api_key", "place"])
  const call = async (method: string, path: string, body?: unknown): Promise<Json> => {
    const answer = await fetch(`${line.url}/api/orgs/dev${path}`, {
      method,
      headers: { "x-api-key": line.api_key, "content-type": "application/json" },
      body: body === undefined ? null : JSON.stringify(body)
    })
    return { status: answer.status, ...JSON.parse((await answer.text()) || "{}") }
  }
  const values = (env: string) => call("GET", `/projects/app/envs/${env}/bundle?format=object`)
  return { ...program, ...line, line, call, values }
}
