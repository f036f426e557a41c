import * as Option from "effect/Option"
import { createRequire } from "node:module"
import { join } from "node:path"

/** The file that the server's package gives out for this. */
const program = "@coffer/server/program"

const resolveFrom = Option.liftThrowable((from: string | URL) => createRequire(from).resolve(program))

/** How to start the server that is installed in the project, or beside this package. */
export const findServer = (): Option.Option<readonly [string, ...Array<string>]> =>
  resolveFrom(join(process.cwd(), "package.json")).pipe(
    Option.orElse(() => resolveFrom(import.meta.url)),
    Option.map((path) => [process.execPath, path] as const)
  )

/** The variables that a test server's process inherits: nothing that could point it at another server's data. */
export const processVariables = (): NodeJS.ProcessEnv =>
  Object.fromEntries(
    ["PATH", "TMPDIR", "TEMP", "TMP", "SystemRoot"].flatMap((name) =>
      process.env[name] === undefined ? [] : [[name, process.env[name]]]
    )
  )
