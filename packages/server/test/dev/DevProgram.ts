import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { assert } from "vitest"
import { ServerProcess } from "../../../client/src/testing/ServerProcess.js"
import type { Json } from "../support/Program.js"

const bin = fileURLToPath(new URL("../../bin/coffer-server.js", import.meta.url))

const made: Array<string> = []
process.once("exit", () => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true })
})

/** A directory of temporary files with nothing but a seed beside it. */
export const place = (seed: unknown = { dev: { A: "1" } }) => {
  const folder = mkdtempSync(join(tmpdir(), "coffer-dev-tests-"))
  made.push(folder)
  const [tmp, file] = [mkdtempSync(join(folder, "tmp-")), join(folder, "seed.json")]
  writeFileSync(file, JSON.stringify(seed))
  return { tmp, file, left: () => readdirSync(tmp) }
}

type Variables = Readonly<Record<string, string>>

/** Starts the command with a directory of temporary files of its own. */
export const start = (tmp: string, args: ReadonlyArray<string>, variables: Variables = {}) => {
  const env = { PATH: process.env["PATH"], TMPDIR: tmp, ...variables }
  const server = new ServerProcess([process.execPath, bin, "dev", ...args], { env, cwd: tmp })
  const { child } = server
  const ended = server.ended.then(({ code }) => ({ code, out: server.out.text, err: server.err.text }))
  const out = server.out.said(/[^]*\n$/).then(([text]) => text)
  out.catch(() => undefined)
  return {
    child,
    ended,
    out,
    said: (text: RegExp) => server.err.said(text),
    stop: (signal: NodeJS.Signals) => (child.kill(signal), ended)
  }
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
