import { fileURLToPath } from "node:url"

const server = fileURLToPath(new URL("../../package.json", import.meta.url))

/** The calls that change files, or write to them. */
const calls = {
  "node:fs": ["writeSync", "fsyncSync", "chmodSync", "renameSync", "rmSync", "closeSync"],
  "node:fs/promises": ["copyFile", "chmod", "link", "rename", "rm"]
}

/**
 * The NODE_OPTIONS that make a program die, as by kill -9, before its `at`-th step: a statement on a database, or a call
 * that changes a file. With a path, the steps that it comes to are written there, a line each.
 */
export const dyingAt = (at: number, trace?: string): string => {
  const code = `
    import fs from "node:fs"
    import promises from "node:fs/promises"
    import { createRequire, syncBuiltinESMExports } from "node:module"
    const modules = { "node:fs": fs, "node:fs/promises": promises }
    const append = fs.appendFileSync
    let steps = 0
    const counted = (object, name, describe) => {
      const call = object[name]
      object[name] = function (...args) {
        steps++
        ${trace === undefined ? "" : `append(${JSON.stringify(trace)}, describe(this, args).replace(/\\s+/g, " ") + "\\n")`}
        if (steps === ${at}) process.kill(process.pid, "SIGKILL")
        return call.apply(this, args)
      }
    }
    const Sqlite = createRequire(${JSON.stringify(server)})("better-sqlite3")
    const probe = new Sqlite(":memory:")
    const statement = Object.getPrototypeOf(probe.prepare("SELECT 1"))
    probe.close()
    for (const name of ["run", "get", "all"]) counted(statement, name, (self) => self.source)
    counted(Sqlite.prototype, "exec", (self, [text]) => text)
    for (const [module, names] of Object.entries(${JSON.stringify(calls)})) {
      for (const name of names) counted(modules[module], name, () => name)
    }
    syncBuiltinESMExports()`
  return `--import ${JSON.stringify(`data:text/javascript,${encodeURIComponent(code)}`)}`
}
