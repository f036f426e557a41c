/** Keeps the code that V8 has compiled for a program's scripts when the program ends: loaded before it, by `--import`. */
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
    // The first run of a script decides.
    if (existsSync(cache)) continue
    writeFileSync(cache, script.createCachedData())
    // Whoever may read the script: the server creates files for itself alone.
    chmodSync(cache, statSync(file).mode)
  }
})
