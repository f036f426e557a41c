import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { keepToLoadCore, onServerCore, useEveryCore } from "../support/machine.mjs"
import { freePort } from "../support/process.mjs"
import { program, settings, settle, startCoffer } from "../support/coffer.mjs"
import { addSecrets } from "../support/data.mjs"
import { fill } from "../support/stores.mjs"
import { median } from "../support/load.mjs"

const nodeAlone = () => {
  const begun = performance.now()
  const [command, ...args] = onServerCore([process.execPath, "-e", "0"])
  spawnSync(command, args)
  return performance.now() - begun
}

/** Returns the time from process start to the first response of `/health`, in milliseconds. */
const toHealth = async (files, databaseUrl) => {
  const port = await freePort()
  const begun = performance.now()
  const [command, ...args] = onServerCore([process.execPath, program])
  const child = spawn(command, args, {
    cwd: files,
    env: { ...settings(files, databaseUrl), SERVICE_PORT: String(port) },
    stdio: "ignore"
  })
  while (!(await fetch(`http://127.0.0.1:${port}/health`).catch(() => undefined))?.ok) {
    if (performance.now() - begun > 60_000) throw new Error("the server does not start")
  }
  const time = performance.now() - begun
  child.kill("SIGTERM")
  await once(child, "exit")
  return time
}

export const compareStart = async (name, files, rounds, databaseUrl) => {
  const [ours, alone] = [[], []]
  await toHealth(files, databaseUrl)
  for (let round = 0; round < rounds; round++) {
    alone.push(nodeAlone())
    ours.push(await toHealth(files, databaseUrl))
  }
  return {
    row: `server start to /health, ${name}`,
    against: "node -e 0",
    measured: `${median(ours).toFixed(0)} ms`,
    base: `${median(alone).toFixed(0)} ms`,
    ratio: median(ours) / median(alone),
    target: 8,
    // A quick run's machine may do other work: a start reads megabytes, and `node -e 0` next to nothing.
    patience: rounds > 5 ? 1 : 1.5,
    atLeast: false
  }
}

const serverRow = {
  name: "start",
  quick: true,
  run: async (context) => {
    const rounds = context.quick ? 5 : 11
    const results = [await compareStart("new database", context.folder("start"), rounds)]
    if (!context.quick)
      results.push(await compareStart("1 GiB database", (await context.share("bulk", bulk)).files, rounds))
    return results
  }
}

/** Creates a server's folder with a database of 1 GiB, and returns its contents. */
export const bulk = async ({ folder }) => {
  const files = folder("bulk")
  const env = { SUPERADMIN_EMAIL_0: "ada@example.com" }
  const server = await startCoffer(files, { env })
  const scene = await settle(server)
  await server.stop()
  await fill(files, (store) => addSecrets(store, { bytes: 60_000, environments: 160 }))
  // Flush now: later the write-back would disturb the measurement.
  spawnSync("sync")
  return { files, scene }
}

const own = (path, ...args) =>
  spawnSync(process.execPath, [fileURLToPath(new URL(`../../../${path}`, import.meta.url)), ...args], {
    encoding: "utf8"
  })

/** The results of the clients' own benchmarks. */
const clientRow = {
  name: "clients",
  quick: true,
  run: ({ quick }) => {
    const runs = quick ? "5" : "20"
    // These benchmarks start their own server beside the client, so they need both cores.
    useEveryCore()
    const cli = own("cli/bench/startup.mjs", "--runs", runs)
    const mcp = own("mcp/bench/startup.mjs", runs)
    keepToLoadCore()
    const ratioOf = (text, pattern) => Number(pattern.exec(text)?.[1])
    const result = (row, ratio, target) => {
      if (!Number.isFinite(ratio)) throw new Error(`${row}: ${cli.stderr}${mcp.stderr}`)
      return { row, against: "node -e 0", measured: "", base: "", ratio, target, atLeast: false }
    }
    return [
      result("coffer --version", ratioOf(cli.stdout, /coffer --version .* ([\d.]+) times/), 2.5),
      result("coffer run -- true", ratioOf(cli.stdout, /coffer run -- true .* ([\d.]+) times/), 3),
      result("coffer secret get", ratioOf(cli.stdout, /coffer secret get .* ([\d.]+) times/), 4),
      result("tool server to tools/list", ratioOf(mcp.stdout, /ratio ([\d.]+)/), 2.5)
    ]
  }
}

export const rows = [serverRow, clientRow]
