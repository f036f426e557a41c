/**
 * Stores V8's code cache beside each script of a program when the program ends. Loaded before the program, by `--import`:
 * see warm.mjs. The names of an executable's scripts are paths in the working directory.
 */
import { chmodSync, existsSync, statSync, writeFileSync } from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import { resolve } from "node:path"
import vm from "node:vm"

const scripts = new Map()

vm.Script = class extends vm.Script {
  constructor(source, options) {
    super(source, options)
    if (options?.filename?.endsWith(".cjs")) scripts.set(resolve(options.filename.replace(/^coffer:/, "")), this)
  }
}

syncBuiltinESMExports()

process.on("exit", () => {
  for (const [file, script] of scripts) {
    const cache = file.replace(/cjs$/, "cache")
    // A script may run twice; its first run fills the cache.
    if (existsSync(cache)) continue
    writeFileSync(cache, script.createCachedData())
    // As readable as the script. The server's umask would make the cache private.
    chmodSync(cache, statSync(file).mode)
  }
})
