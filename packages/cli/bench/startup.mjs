/**
 * Measures the client's start time as a multiple of Node's own:
 *
 *   node packages/cli/bench/startup.mjs [DOTENVX] [--runs N]
 *
 * DOTENVX is the path of a `dotenvx` executable from npm, for comparison.
 */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { startBuiltServer } from "../../client/dist/testing/BuiltServer.js"

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { runs: { type: "string", default: "20" } }
})
const [dotenvx] = positionals
const runs = Number(values.runs)

/** The measured Node; COFFER_TEST_NODE names another one. The server runs on the Node that it was built for. */
const node = process.env.COFFER_TEST_NODE ?? process.execPath

const coffer = fileURLToPath(new URL("../bin/coffer.js", import.meta.url))
const folder = mkdtempSync(join(tmpdir(), "coffer-bench-"))

const home = { PATH: process.env.PATH, HOME: folder }
const { server, url } = await startBuiltServer(folder)
const env = { ...home, SERVICE_SERVER_URL: url }

const start = (...args) => spawnSync(node, args, { cwd: folder, env, encoding: "utf8" })

const run = (...args) => {
  const { status, stderr, stdout } = start(coffer, ...args)
  if (status !== 0) throw new Error(`coffer ${args.join(" ")}: ${stderr}`)
  return stdout
}

const time = (args) => {
  const begin = performance.now()
  const { status, stderr } = start(...args)
  if (status !== 0) throw new Error(`${args.join(" ")}: ${stderr}`)
  return performance.now() - begin
}

/** Returns the median time of each command in milliseconds. Interleaves the runs, so that noise affects all commands alike. */
const measure = (rows) => {
  const times = rows.map(() => [])
  for (let turn = 0; turn < runs; turn++) rows.forEach(([, args], at) => times[at].push(time(args)))
  return times.map((row) => row.sort((a, b) => a - b)[Math.floor(runs / 2)])
}

try {
  run("login", "--email", "ada@example.com")
  const [, code] = await server.err.said(/login code for \S+: (\d{6})/)
  run("login", "--email", "ada@example.com", "--code", code)
  run("org", "create", "acme")
  run("project", "create", "webshop", "--org", "acme")
  run("init", "--org", "acme", "--project", "webshop", "--env", "dev")
  const secrets = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`KEY_${index}`, `value ${index}`]))
  writeFileSync(join(folder, "secrets.json"), JSON.stringify(secrets))
  run("secret", "import", "secrets.json")
  run("secret", "export", "--output", ".env")

  const rows = [
    ["node -e 0", ["-e", "0"], undefined],
    ["coffer --version", [coffer, "--version"], 2.5],
    ["coffer run -- true (100 secrets)", [coffer, "run", "--", "true"], 3],
    ["coffer secret get KEY_1", [coffer, "secret", "get", "KEY_1"], 4],
    ["the tab key: keys, from the cache", [coffer, "__complete", "key", "0", ""], undefined],
    ...(dotenvx === undefined
      ? []
      : [["dotenvx run -- true (100 secrets)", [dotenvx, "run", "--quiet", "--", "true"], undefined]])
  ]
  // Warm-up, to fill the file and code caches.
  for (const [, args] of rows) start(...args)
  process.stdout.write(`Node ${start("--version").stdout.trim()}, the middle of ${runs} runs\n`)
  const times = measure(rows)
  for (const [at, [name, , target]] of rows.entries()) {
    const goal = target === undefined ? "" : `  (target ${target})`
    process.stdout.write(
      `${name.padEnd(36)} ${times[at].toFixed(0).padStart(5)} ms  ${(times[at] / times[0]).toFixed(2)} times${goal}\n`
    )
  }
} finally {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
}
