/** Runs the scripts of an executable, which import each other. */
import { Script } from "node:vm"

/** The scripts of each program. */
export const scripts = { cli: ["main", "Cli", "run/main", "completion/main"], mcp: ["main", "Calls"] }

/**
 * Starts a program with its first script.
 *
 * @param textOf returns a script
 * @param cacheOf returns V8's code cache of a script
 * @param loaded is called with each script that runs
 */
export const startScripts = ({ cacheOf, loaded = () => {}, program, require, textOf, url }) => {
  const run = (name) => {
    const path = `${program}/${name}`
    // V8 keeps the name in its cache: it is no path of the machine that built the executable.
    const script = new Script(textOf(path), { filename: `coffer:${path}.cjs`, cachedData: cacheOf(path) })
    loaded(path, script)
    const module = { exports: {} }
    script.runInThisContext()(module, require, load, url)
    return module.exports
  }

  /** Scripts import each other by `./NAME.js`. There is nothing beside an executable that could be imported. */
  const load = async (specifier) => {
    const name = /^\.\/(.+)\.js$/.exec(specifier)?.[1]
    if (!scripts[program].includes(name)) throw new Error(`${specifier} is not part of this executable`)
    return run(name)
  }

  run("main")
}
