/**
 * Newer versions of Node keep compiled code between starts. Bundled in front of programs whose scripts have no code cache
 * beside them: see start-cached.mjs.
 */
import { statSync } from "node:fs"
import module from "node:module"

const { HOME = "", XDG_CACHE_HOME = "" } = process.env
const cache = XDG_CACHE_HOME.startsWith("/") ? XDG_CACHE_HOME : `${HOME}/.cache`

/** Others could plant code in the shared temporary directory, which is Node's default, and in their home under `sudo -E`. */
const isOwn = (folder) => {
  try {
    return statSync(folder).uid === process.geteuid?.()
  } catch {
    return false
  }
}

if (cache.startsWith("/") && isOwn(XDG_CACHE_HOME === "" ? HOME : cache)) {
  module.enableCompileCache?.(`${cache}/coffer/compiled`)
}
