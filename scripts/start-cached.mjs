/**
 * The loader that bundle.mjs emits instead of a program's entry module. It runs the module's script with its V8 code cache.
 * V8 rejects a cache from another version and compiles the script.
 */
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { fileURLToPath } from "node:url"
import { Script } from "node:vm"

const url = new URL(process.env.COFFER_SCRIPT, import.meta.url).href
const filename = fileURLToPath(url)

const readCache = () => {
  try {
    return readFileSync(filename.replace(/cjs$/, "cache"))
  } catch {
    return undefined
  }
}

const script = new Script(readFileSync(filename, "utf8"), { filename, cachedData: readCache() })
const module = { exports: {} }
script.runInThisContext()(module, createRequire(url), (name) => import(name), url)

export const { exports } = module
