/**
 * What bundle.mjs puts in the place of a module that starts a program: the module is a script beside this one, and V8 takes
 * its code from the cache beside that. V8 itself refuses the cache of another version of V8, and compiles the script.
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
