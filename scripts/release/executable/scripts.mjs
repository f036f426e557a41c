/** Runs the scripts of an executable, which import each other. */
import { runScript } from "../../code/script.mjs"

/** The scripts of each program. */
export const scripts = { cli: ["main", "Cli", "run/main", "secrets/main", "completion/main"], mcp: ["main", "Calls"] }

/**
 * Starts a program with its first script.
 *
 * @param textOf returns a script
 * @param cacheOf returns V8's code cache of a script
 */
export const startScripts = ({ cacheOf, program, require, textOf, url }) => {
  const run = (name) => {
    const path = `${program}/${name}`
    return runScript({
      // V8 keeps the name in its cache: it is no path of the machine that built the executable.
      filename: `coffer:${path}.cjs`,
      source: textOf(path),
      caches: [() => cacheOf(path)],
      require,
      load,
      url
    })
  }

  /** Scripts import each other by `./NAME.js`. There is nothing beside an executable that could be imported. */
  const load = async (specifier) => {
    const name = /^\.\/(.+)\.js$/.exec(specifier)?.[1]
    if (!scripts[program].includes(name)) throw new Error(`${specifier} is not part of this executable`)
    return run(name)
  }

  run("main")
}
