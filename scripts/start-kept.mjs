/**
 * The loader that the npm package has instead of a program's entry module. It runs the module's script with the code that
 * V8 compiled at an earlier start, which is kept in the user's cache. Node's own cache, of Node 22, holds only what is
 * compiled before the program runs.
 */
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync
} from "node:fs"
import { createRequire } from "node:module"
import { basename } from "node:path"
import { fileURLToPath } from "node:url"
import { Script } from "node:vm"

const url = new URL(process.env.COFFER_SCRIPT, import.meta.url).href
const filename = fileURLToPath(url)

const { HOME = "", XDG_CACHE_HOME = "" } = process.env
const cache = XDG_CACHE_HOME.startsWith("/") ? XDG_CACHE_HOME : `${HOME}/.cache`

const attempt = (work) => {
  try {
    return work()
  } catch {
    return undefined
  }
}

const user = process.geteuid?.()

/** Others could plant code in a cache that is theirs, such as that of their home under `sudo -E`. */
const isOwn = (folder) => user !== undefined && attempt(() => statSync(folder).uid) === user

const folder =
  cache.startsWith("/") && isOwn(XDG_CACHE_HOME === "" ? HOME : cache) ? `${cache}/coffer/compiled` : undefined

// V8 checks only the length of a script against its code. The name of the script has a digest of it.
const file = `${folder}/${basename(filename, ".cjs")}-${process.versions.v8}-${process.arch}`

const withFile = (path, flags, use) => {
  const descriptor = openSync(path, flags, 0o600)
  try {
    return use(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

const readCode = () =>
  attempt(() =>
    withFile(file, constants.O_RDONLY | constants.O_NOFOLLOW, (descriptor) => {
      const { mode, uid } = fstatSync(descriptor)
      return uid === user && (mode & 0o022) === 0 ? readFileSync(descriptor) : undefined
    })
  )

const source = readFileSync(filename, "utf8")
const script = new Script(source, { filename, cachedData: folder === undefined ? undefined : readCode() })

/** On disk before it has its name: V8 does not notice all damage. */
const storeCode = () =>
  attempt(() => {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const temporary = `${file}.${process.pid}`
    withFile(temporary, "wx", (descriptor) => {
      writeFileSync(descriptor, script.createCachedData())
      fsyncSync(descriptor)
    })
    renameSync(temporary, file)
  })

// The functions of other commands are compiled when they run.
if (folder !== undefined && script.cachedDataRejected !== false) process.once("exit", storeCode)

const module = { exports: {} }
script.runInThisContext()(module, createRequire(url), (name) => import(name), url)

export const { exports } = module
