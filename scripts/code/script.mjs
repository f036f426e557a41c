/** Runs a script of bundling.mjs with the code that V8 compiled earlier. Every program starts with this. */
import { Script } from "node:vm"

export const attempt = (work) => {
  try {
    return work()
  } catch {
    return undefined
  }
}

/**
 * Runs a script. Returns its exports.
 *
 * @param caches return V8's code caches, in the order to try them; V8 rejects that of another version
 * @param store is called when the process ends with the code, if V8 took no cache
 * @param load is the `import()` of the script
 */
export const runScript = ({ caches, filename, load, require, source, store, url }) => {
  let script
  for (const cache of caches) {
    const cachedData = attempt(cache)
    if (cachedData === undefined) continue
    script = new Script(source, { filename, cachedData })
    if (script.cachedDataRejected === false) break
  }
  script ??= new Script(source, { filename })
  // At the end: functions are compiled when they first run.
  if (store !== undefined && script.cachedDataRejected !== false) {
    process.once("exit", () => attempt(() => store(script.createCachedData())))
  }
  const module = { exports: {} }
  script.runInThisContext()(module, require, load, url)
  return module.exports
}
