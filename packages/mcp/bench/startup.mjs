/**
 * Measures the time from process start to the response of `tools/list`, compared with `node -e 0`. Prints the ratio, with
 * exit code 1 if it exceeds the limit. Runs alternate, and the fastest of each counts, because noise only slows runs down.
 *
 *     node packages/mcp/bench/startup.mjs [rounds]
 */
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { tmpdir } from "node:os"
import { fileURLToPath } from "node:url"

const ceiling = 2.5
const rounds = Number(process.argv[2] ?? 25)
const program = fileURLToPath(new URL("../bin/coffer-mcp.js", import.meta.url))
const env = { PATH: process.env.PATH, HOME: process.env.HOME }

const message = (content) => `${JSON.stringify({ jsonrpc: "2.0", ...content })}\n`
const clientInfo = { name: "bench", version: "0" }
const initialize = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo }

const nodeAlone = () => {
  const start = performance.now()
  spawnSync(process.execPath, ["-e", "0"], { env })
  return performance.now() - start
}

const toTools = async () => {
  const start = performance.now()
  const child = spawn(process.execPath, [program], { cwd: tmpdir(), env, stdio: ["pipe", "pipe", "ignore"] })
  child.stdin.write(message({ id: 1, method: "initialize", params: initialize }))
  child.stdin.write(message({ method: "notifications/initialized" }))
  child.stdin.write(message({ id: 2, method: "tools/list" }))
  let answer = ""
  for await (const chunk of child.stdout) {
    answer += chunk
    if (answer.includes('"id":2')) break
  }
  const time = performance.now() - start
  child.stdin.end()
  if (child.exitCode === null) await once(child, "exit")
  return time
}

const alone = []
const tools = []
for (let round = 0; round < rounds; round++) {
  alone.push(nodeAlone())
  tools.push(await toTools())
}
const ratio = Math.min(...tools) / Math.min(...alone)
const ms = (times) => `${Math.min(...times).toFixed(0)} ms`
process.stdout.write(
  `node -e 0: ${ms(alone)}; start to tools/list: ${ms(tools)}; ratio ${ratio.toFixed(2)}, at most ${ceiling}\n`
)
if (ratio > ceiling) process.exitCode = 1
