/** Stores V8's code cache of a program's scripts when the program ends. Loaded before the program, by `--import`. */
import { chmodSync, existsSync, statSync, writeFileSync } from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import vm from "node:vm"

const scripts = new Map()

vm.Script = class extends vm.Script {
  constructor(source, options) {
    super(source, options)
    if (options?.filename?.endsWith(".cjs")) scripts.set(options.filename, this)
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
