/**
 * The loader that bundle.mjs emits instead of a program's entry module. It runs the module's script with its V8 code cache.
 * V8 rejects the cache of another version of Node. Such a version keeps its own beside it, if it may write there.
 */
import { chmodSync, closeSync, fsyncSync, openSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { fileURLToPath } from "node:url"
import { Script } from "node:vm"

const url = new URL(process.env.COFFER_SCRIPT, import.meta.url).href
const filename = fileURLToPath(url)

const source = readFileSync(filename, "utf8")

const attempt = (work) => {
  try {
    return work()
  } catch {
    return undefined
  }
}

const compile = (cache) => new Script(source, { filename, cachedData: attempt(() => readFileSync(cache)) })

const own = filename.replace(/cjs$/, `${process.versions.v8}.cache`)

/** On disk before it has its name, and as readable as the script: V8 does not notice all damage. */
const store = () =>
  attempt(() => {
    const temporary = `${own}.${process.pid}`
    const descriptor = openSync(temporary, "wx")
    writeFileSync(descriptor, script.createCachedData())
    fsyncSync(descriptor)
    closeSync(descriptor)
    chmodSync(temporary, statSync(filename).mode)
    renameSync(temporary, own)
  })

const built = compile(filename.replace(/cjs$/, "cache"))
const script = built.cachedDataRejected === true ? compile(own) : built
// The functions of other commands are compiled when they run.
if (built.cachedDataRejected === true && script.cachedDataRejected !== false) process.once("exit", store)

const module = { exports: {} }
script.runInThisContext()(module, createRequire(url), (name) => import(name), url)

export const { exports } = module
