import { spawnSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { arch, availableParallelism, cpus, release, totalmem, type } from "node:os"

/** All cores of the machine, read before this process is pinned to one. */
const coreCount = availableParallelism()

const hasTaskset = spawnSync("taskset", ["--version"]).status === 0

/** The cores of server and load, if there are two and `taskset` is available. */
export const cores = hasTaskset && coreCount >= 2 ? { server: 0, load: 1 } : null

/** Returns a command line that is pinned to the server's core. */
export const onServerCore = (command) =>
  cores === null ? command : ["taskset", "-c", String(cores.server), ...command]

/** Pins this process, which generates the load, to the load's core. */
export const keepToLoadCore = () => {
  if (cores !== null) spawnSync("taskset", ["-a", "-c", "-p", String(cores.load), String(process.pid)])
}

/** Reverts `keepToLoadCore`. */
export const useEveryCore = () => {
  if (cores !== null) spawnSync("taskset", ["-a", "-c", "-p", `0-${coreCount - 1}`, String(process.pid)])
}

/** The folders of the programs' dependencies, and of the tools that only tests and benchmarks need. */
const installed = ["../../../../node_modules/", "../../../node_modules/"]

const versionOf = (name) => {
  const files = installed.map((folder) => new URL(`${folder}${name}/package.json`, import.meta.url))
  return JSON.parse(readFileSync(files.find((file) => existsSync(file)) ?? files[0], "utf8")).version
}

export const describe = () => ({
  cpu: `${coreCount} × ${cpus()[0]?.model ?? "unknown"}`,
  memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
  system: `${type()} ${release()} ${arch()}`,
  node: process.version,
  versions: Object.fromEntries(
    ["effect", "@effect/platform", "better-sqlite3", "autocannon"].map((name) => [name, versionOf(name)])
  ),
  pinning: cores === null ? "none: taskset or a second core is missing" : "server on core 0, load on core 1, by taskset"
})
