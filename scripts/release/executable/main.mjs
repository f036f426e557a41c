/** Where the single executable starts. Its scripts and their code caches are assets in it: see executable.mjs. */
import { basename } from "node:path"
import { getAsset, getRawAsset } from "node:sea"
import { pathToFileURL } from "node:url"
import { startScripts } from "./scripts.mjs"

// Node's default for SIGUSR1 opens its debugger, in a process that holds secrets.
process.on("SIGUSR1", () => {})

startScripts({
  program: basename(process.argv0) === "coffer-mcp" ? "mcp" : "cli",
  textOf: (path) => getAsset(`${path}.cjs`, "utf8"),
  cacheOf: (path) => new Uint8Array(getRawAsset(`${path}.cache`)),
  require,
  url: pathToFileURL(process.execPath).href
})
