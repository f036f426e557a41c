/**
 * The loader that bundling.mjs emits instead of a program's entry module. The build stores the module's code beside its
 * script. Without that, as in the npm package and with another version of Node, the code of an earlier start is kept in the
 * user's cache. Node's own cache, of Node 22, holds only what is compiled before the program runs.
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
import { attempt, runScript } from "./script.mjs"

const url = new URL(process.env.COFFER_SCRIPT, import.meta.url).href
const filename = fileURLToPath(url)

const { HOME = "", XDG_CACHE_HOME = "" } = process.env
const cache = XDG_CACHE_HOME.startsWith("/") ? XDG_CACHE_HOME : `${HOME}/.cache`

const user = process.geteuid?.()

/** Others could plant code in a cache that is theirs, such as that of their home under `sudo -E`. */
const isOwn = (folder) => user !== undefined && attempt(() => statSync(folder).uid) === user

const keptIn = () =>
  cache.startsWith("/") && isOwn(XDG_CACHE_HOME === "" ? HOME : cache) ? `${cache}/coffer/compiled` : undefined

// V8 checks only the length of a script against its code. The name of the script has a digest of it.
const fileIn = (folder) => `${folder}/${basename(filename, ".cjs")}-${process.versions.v8}-${process.arch}`

const withFile = (path, flags, use) => {
  const descriptor = openSync(path, flags, 0o600)
  try {
    return use(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

const readKept = () => {
  const folder = keptIn()
  if (folder === undefined) return undefined
  return withFile(fileIn(folder), constants.O_RDONLY | constants.O_NOFOLLOW, (descriptor) => {
    const { mode, uid } = fstatSync(descriptor)
    return uid === user && (mode & 0o022) === 0 ? readFileSync(descriptor) : undefined
  })
}

/** On disk before it has its name: V8 does not notice all damage. */
const store = (code) => {
  const folder = keptIn()
  if (folder === undefined) return
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const temporary = `${fileIn(folder)}.${process.pid}`
  withFile(temporary, "wx", (descriptor) => {
    writeFileSync(descriptor, code)
    fsyncSync(descriptor)
  })
  renameSync(temporary, fileIn(folder))
}

export const exports = runScript({
  filename,
  source: readFileSync(filename, "utf8"),
  caches: [() => readFileSync(filename.replace(/cjs$/, "cache")), readKept],
  store,
  require: createRequire(url),
  load: (name) => import(name),
  url
})
