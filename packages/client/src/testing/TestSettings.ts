import { createRequire } from "node:module"
import { join } from "node:path"

/** The file that the server's package gives out for this. */
const program = "@coffer/server/program"

const resolveFrom = (from: string | URL): string | undefined => {
  try {
    return createRequire(from).resolve(program)
  } catch {
    return undefined
  }
}

/** How to start the server that is installed in the project, or beside this package. */
export const findServer = (): readonly [string, ...Array<string>] | undefined => {
  const path = resolveFrom(join(process.cwd(), "package.json")) ?? resolveFrom(import.meta.url)
  return path === undefined ? undefined : [process.execPath, path]
}

/** The variables that a test server's process inherits: nothing that could point it at another server's data. */
export const processVariables = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    ["PATH", "TMPDIR", "TEMP", "TMP", "SystemRoot"].flatMap((name) =>
      process.env[name] === undefined ? [] : [[name, process.env[name]]]
    )
  )
