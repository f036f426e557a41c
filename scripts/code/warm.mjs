/** Fills the code caches of a build: runs the programs once, and stores the code that V8 compiled. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { createServer } from "node:http"

/** A session of the tool server: a host lists the tools and calls one. */
const initialize = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "build", version: "0" } }
const session = [
  { id: 1, method: "initialize", params: initialize },
  { id: 2, method: "tools/list" },
  { id: 3, method: "tools/call", params: { name: "secret_list", arguments: {} } }
]
const sessionEnd = '"id":3'

/** The runs of the clients that fill all of their caches. */
export const clientRuns = [
  ["cli", "secret", "get", "KEY"],
  ["cli", "org", "list"],
  ["cli", "run", "--", "true"],
  ["cli", "__complete", "key", "0", ""],
  ["mcp"]
]

/** A server with valid responses for the clients, so that the caches hold the code that runs where nothing fails. */
const service = createServer((_request, response) => {
  response.setHeader("content-type", "application/json")
  response.end(JSON.stringify({ revision: 1, data: [], key: "KEY", value: "value", version: 1 }))
})
service.listen(0, "127.0.0.1").unref()
await once(service, "listening")

const variables = {
  PATH: process.env.PATH,
  SERVICE_SERVER_URL: `http://127.0.0.1:${service.address().port}`,
  SERVICE_ORG: "acme",
  SERVICE_PROJECT: "webshop",
  SERVICE_ENV: "dev",
  SERVICE_API_KEY: "svc_sa_none"
}

/**
 * Runs a program once. The program may fail; a server is stopped as soon as it listens.
 *
 * @param folder the working directory and home of the program
 * @param isToolServer whether to hold a session with the program
 */
export const warm = async ({ args, env = {}, folder, isToolServer = false, node = process.execPath, options = [] }) => {
  const keep = new URL("keep.mjs", import.meta.url).href
  const child = spawn(node, [...options, "--import", keep, ...args], {
    cwd: folder,
    env: { ...variables, HOME: folder, ...env },
    stdio: ["pipe", "pipe", "pipe"],
    timeout: 60_000
  })
  if (isToolServer) {
    for (const message of session) child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`)
    child.stdout.on("data", (text) => {
      if (String(text).includes(sessionEnd)) child.stdin.end()
    })
  } else {
    child.stdin.end()
    child.stdout.resume()
  }
  child.stderr.on("data", (text) => {
    if (String(text).includes("listening on")) child.kill("SIGTERM")
  })
  await once(child, "close")
}
