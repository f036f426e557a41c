import type { BundleSecret } from "@coffer/client/internal/BundleClient"
import { writeProblem } from "@coffer/client/internal/FileError"
import { isVariableName } from "@coffer/client/internal/ServiceFileKeys"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { makePrivateFolder, removePrivateFolder } from "../terminal/PrivateFolder.js"
import type { FileOptions } from "./RunArgv.js"
import { dieOf, type Signals } from "./Signals.js"
import { NotStarted } from "./Start.js"

/** The plan for the variables and files of some secrets. */
interface FilePlan {
  /** The secrets for the command's variables: of those in files, the path. */
  readonly variables: ReadonlyArray<BundleSecret>
  /** Writes the files, and removes those of secrets that no longer exist. */
  readonly write: Effect.Effect<void, NotStarted>
}

/** The values that a command gets as files, in a folder that is removed after the command. */
export interface SecretFiles {
  /** Fails if a secret does not exist, or two need the same path. */
  readonly plan: (secrets: ReadonlyArray<BundleSecret>) => Effect.Effect<FilePlan, NotStarted>
}

const notStarted = (message: string) => new NotStarted({ code: 125, message })

/** The path of each secret that goes to a file. */
const pathsOf = ({ directory, paths }: FileOptions, secrets: ReadonlyArray<BundleSecret>) =>
  new Map(
    secrets.flatMap(({ key }) => {
      const path = paths.get(key) ?? (directory === undefined ? undefined : join(directory, key))
      return path === undefined ? [] : [[key, path] as const]
    })
  )

/** A key whose path another key needs, as a file or as a directory. */
const clashIn = (paths: ReadonlyMap<string, string>): string | undefined => {
  const taken = new Set<string>()
  for (const path of paths.values()) for (let up = dirname(path); up !== "."; up = dirname(up)) taken.add(up)
  for (const [key, path] of paths) {
    if (taken.has(path)) return key
    taken.add(path)
  }
  return undefined
}

/** Writes a file beside its place and renames it there: a running command may read it. */
const writeFile = (folder: string, name: string, value: string) => {
  const path = join(folder, name)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const temporary = join(folder, `.${globalThis.crypto.randomUUID()}`)
  writeFileSync(temporary, value, { mode: 0o600, flag: "wx" })
  renameSync(temporary, path)
}

/** Makes the folder, which is removed with the scope, or when a signal ends this process before there is a command. */
export const secretFiles = (
  options: FileOptions,
  signals: Signals
): Effect.Effect<SecretFiles, NotStarted, Scope.Scope> =>
  Effect.gen(function* () {
    const { folder } = yield* Effect.acquireRelease(
      Effect.map(makePrivateFolder("run"), (folder) => {
        const remove = () => removePrivateFolder(folder)
        signals.giveTo((signal) => {
          remove()
          dieOf(signal)
        })
        // The process may end without ending this effect.
        process.once("exit", remove)
        return { folder, remove }
      }),
      ({ remove }) => Effect.sync(remove)
    )
    const written = new Map<string, string>()

    const write = (wanted: ReadonlyMap<string, string>) =>
      Effect.try({
        try: () => {
          for (const path of [...written.keys()].filter((path) => !wanted.has(path))) {
            rmSync(join(folder, path), { force: true })
            written.delete(path)
          }
          for (const [path, value] of wanted) {
            if (written.get(path) === value) continue
            writeFile(folder, path, value)
            written.set(path, value)
          }
        },
        catch: (cause) => notStarted(`the files of the secrets cannot be written: ${writeProblem(cause)}`)
      })

    const files: SecretFiles = {
      plan: (secrets) =>
        Effect.suspend(() => {
          const existing = new Set(secrets.map(({ key }) => key))
          const absent = [...options.paths.keys()].filter((key) => !existing.has(key))
          if (absent.length > 0)
            return notStarted(`${absent.join(", ")}: --file names what was not read; see coffer secret list`)
          const paths = pathsOf(options, secrets)
          const clash = clashIn(paths)
          if (clash !== undefined)
            return notStarted(`${clash}: another file or directory has its path ${paths.get(clash) ?? ""}`)
          const variables = secrets.flatMap((secret) => {
            const path = paths.get(secret.key)
            if (path === undefined) return [secret]
            // A file may be named as no variable can.
            return isVariableName(secret.key) ? [{ key: secret.key, value: Redacted.make(join(folder, path)) }] : []
          })
          const wanted = new Map(
            secrets.flatMap(({ key, value }) => {
              const path = paths.get(key)
              return path === undefined ? [] : [[path, Redacted.value(value)] as const]
            })
          )
          return Effect.succeed({ variables, write: write(wanted) })
        })
    }
    return files
  }).pipe(Effect.catchTag("CannotDo", ({ message }) => notStarted(message)))
