/**
 * Runs a program from the folder of its scripts, and stores V8's code cache of each when it ends. Usage: FOLDER PROGRAM
 * [ARGS…]
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { startScripts } from "./scripts.mjs"

const [folder, program] = process.argv.splice(2, 2)
const kept = new Map()

process.on("exit", () => {
  for (const [path, script] of kept) {
    const cache = `${folder}/${path}.cache`
    // The first run that uses a script fills its cache.
    if (!existsSync(cache)) writeFileSync(cache, script.createCachedData())
  }
})

startScripts({
  program,
  textOf: (path) => readFileSync(`${folder}/${path}.cjs`, "utf8"),
  cacheOf: () => undefined,
  loaded: (path, script) => kept.set(path, script),
  require: createRequire(import.meta.url),
  url: import.meta.url
})
