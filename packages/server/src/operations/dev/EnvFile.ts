import * as Effect from "effect/Effect"
import { randomBytes } from "node:crypto"
import { constants, type Stats } from "node:fs"
import { open, writeFile } from "node:fs/promises"
import { parseEnv } from "node:util"
import type { Environment } from "../../base/config/Variables.js"
import { codeOf, reasonOf } from "../../base/Reason.js"
import { StartupError } from "../../base/StartupError.js"

const attempt = <A>(work: () => Promise<A>) =>
  Effect.tryPromise({ try: work, catch: (error) => ({ code: codeOf(error), reason: reasonOf(error) }) })

/** Creates a file of settings with a new master key, for its owner alone. Returns whether it was not there. */
export const createEnv = (path: string): Effect.Effect<boolean, StartupError> => {
  const text = `SERVICE_MASTER_KEY=${randomBytes(32).toString("hex")}\nSMTP_HOST=log\n`
  return attempt(() => writeFile(path, text, { flag: "wx", mode: 0o600 })).pipe(
    Effect.as(true),
    Effect.catchAll(({ code, reason }) =>
      code === "EEXIST" ? Effect.succeed(false) : new StartupError({ message: `${path} cannot be written: ${reason}` })
    )
  )
}

/** Windows has no such flag. */
const noFollow = process.platform === "win32" ? 0 : constants.O_NOFOLLOW

const isPrivate = (mode: number): boolean => process.platform === "win32" || (mode & 0o077) === 0

const problemOf = (path: string, found: Stats): string | undefined => {
  if (!found.isFile()) return `${path} is not a file`
  if (isPrivate(found.mode)) return undefined
  return `${path} holds the master key and others can read it: run "chmod 600 ${path}" and start again`
}

/** Reads the settings of a file; none if it does not exist. Refuses a file that others can read, and a symbolic link. */
export const readEnv = (path: string): Effect.Effect<Environment, StartupError> =>
  Effect.acquireUseRelease(
    attempt(() => open(path, constants.O_RDONLY | noFollow)),
    (file) => attempt(async () => ({ found: await file.stat(), text: await file.readFile("utf8") })),
    (file) => Effect.promise(() => file.close())
  ).pipe(
    Effect.matchEffect({
      onFailure: ({ code, reason }) => {
        if (code === "ENOENT") return Effect.succeed<Environment>({})
        const problem = code === "ELOOP" ? "is a symbolic link: put the file itself there" : `cannot be read: ${reason}`
        return new StartupError({ message: `${path} ${problem}` })
      },
      onSuccess: ({ found, text }) => {
        const message = problemOf(path, found)
        return message === undefined ? Effect.succeed(parseEnv(text)) : new StartupError({ message })
      }
    })
  )

const otherForm = (name: string): string => (name.endsWith("_FILE") ? name.slice(0, -"_FILE".length) : `${name}_FILE`)

/** Whether an environment has a setting, itself or as the name of a file. */
export const isGiven = (environment: Environment, name: string): boolean =>
  environment[name] !== undefined || environment[otherForm(name)] !== undefined
