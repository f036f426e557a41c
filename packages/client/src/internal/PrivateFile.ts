import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { dirname, join } from "node:path"
import { hasCode, readProblem, writeProblem } from "./FileError.js"
import { variable, Variables } from "./Variables.js"

/** A private file cannot be read, written or trusted. The message names the file and the remedy. */
export class PrivateFileError extends Data.TaggedError("PrivateFileError")<{ readonly message: string }> {}

const windows = process.platform === "win32"

const ownPath = Effect.fnUntraced(function* (variableName: string, fallback: string, name: string) {
  const env = yield* Variables
  // A relative path is invalid and ignored (XDG Base Directory Specification, "Environment variables").
  const configured = variable(env, variableName)
  if (configured?.startsWith("/") === true) return join(configured, "coffer", name)
  const home = variable(env, "HOME") ?? variable(env, "USERPROFILE")
  if (home === undefined)
    return yield* new PrivateFileError({ message: `there is no home directory: set HOME or ${variableName}` })
  return join(home, fallback, "coffer", name)
})

/** Returns the path of a configuration file: `$XDG_CONFIG_HOME/coffer/NAME`, or `~/.config/coffer/NAME`. */
export const privatePath = (name: string) => ownPath("XDG_CONFIG_HOME", ".config", name)

/** Returns the path of a state file: `$XDG_STATE_HOME/coffer/NAME`, or `~/.local/state/coffer/NAME`. */
export const statePath = (name: string) => ownPath("XDG_STATE_HOME", ".local/state", name)

/** Returns the path of a file that can be lost: `$XDG_CACHE_HOME/coffer/NAME`, or `~/.cache/coffer/NAME`. */
export const cachePath = (name: string) => ownPath("XDG_CACHE_HOME", ".cache", name)

class Absent extends Data.TaggedError("Absent") {}

const open = (path: string): Effect.Effect<Option.Option<number>, PrivateFileError> =>
  Effect.try({
    try: () => openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW),
    catch: (cause) => {
      if (hasCode(cause, "ENOENT") || hasCode(cause, "ENOTDIR")) return new Absent()
      const problem = hasCode(cause, "ELOOP")
        ? "is a symbolic link; put the file itself there"
        : `cannot be read: ${readProblem(cause)}`
      return new PrivateFileError({ message: `${path} ${problem}` })
    }
  }).pipe(
    Effect.asSome,
    Effect.catchTag("Absent", () => Effect.succeedNone)
  )

/** Reads a file. Returns none if it does not exist; fails if other users may access it. */
export const readPrivate = (path: string): Effect.Effect<Option.Option<string>, PrivateFileError> =>
  Effect.acquireUseRelease(
    open(path),
    Option.match({
      onNone: () => Effect.succeedNone,
      onSome: (descriptor) =>
        Effect.gen(function* () {
          const refuse = (problem: string) => new PrivateFileError({ message: `${path} ${problem}` })
          const { mode, uid, isFile } = yield* Effect.try({
            try: () => {
              const stat = fstatSync(descriptor)
              return { mode: stat.mode, uid: stat.uid, isFile: stat.isFile() }
            },
            catch: (cause) => refuse(`cannot be read: ${readProblem(cause)}`)
          })
          if (!isFile) return yield* refuse("is not a file; move it away")
          if (!windows) {
            if (uid !== process.getuid?.()) return yield* refuse("belongs to another user; move it away")
            if ((mode & 0o077) !== 0) return yield* refuse(`can be read by others; run: chmod 600 ${path}`)
          }
          const text = yield* Effect.try({
            try: () => readFileSync(descriptor, "utf8"),
            catch: (cause) => refuse(`cannot be read: ${readProblem(cause)}`)
          })
          return Option.some(text)
        })
    }),
    Option.match({ onNone: () => Effect.void, onSome: (descriptor) => Effect.sync(() => closeSync(descriptor)) })
  )

/**
 * Prepares the atomic write of a file, accessible to its owner only. Creates its directory. Fails if the file cannot be written,
 * before there is anything to lose.
 */
export const stagePrivate = (path: string) =>
  Effect.suspend(() => {
    // Loading node:crypto takes half as long as starting Node, and most runs write nothing.
    const temporary = join(dirname(path), `.${globalThis.crypto.randomUUID()}`)
    const attempt = (run: () => void) =>
      Effect.try({
        try: run,
        catch: (cause) => new PrivateFileError({ message: `${path} cannot be written: ${writeProblem(cause)}` })
      })
    const create = attempt(() => {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      closeSync(openSync(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600))
    })
    const write = (text: string) =>
      attempt(() => {
        const descriptor = openSync(temporary, constants.O_WRONLY)
        writeFileSync(descriptor, text)
        fsyncSync(descriptor)
        closeSync(descriptor)
        renameSync(temporary, path)
      })
    const remove = Effect.ignore(Effect.try(() => rmSync(temporary, { force: true })))
    return Effect.acquireRelease(Effect.as(create, write), () => remove)
  })

/** Writes a file atomically, accessible to its owner only. Creates its directory. */
export const writePrivate = (path: string, text: string): Effect.Effect<void, PrivateFileError> =>
  Effect.scoped(Effect.flatMap(stagePrivate(path), (write) => write(text)))

/** The names of the files in a folder; none if it does not exist. */
export const privateNames = (path: string): Effect.Effect<ReadonlyArray<string>, PrivateFileError> =>
  Effect.try({
    try: () => readdirSync(path).filter((name) => !name.startsWith(".")),
    catch: (cause) =>
      hasCode(cause, "ENOENT")
        ? new Absent()
        : new PrivateFileError({ message: `${path} cannot be read: ${readProblem(cause)}` })
  }).pipe(Effect.catchTag("Absent", () => Effect.succeed([])))

/** Removes a file, if it exists. */
export const removePrivate = (path: string): Effect.Effect<void, PrivateFileError> =>
  Effect.try({
    try: () => rmSync(path, { force: true }),
    catch: (cause) => new PrivateFileError({ message: `${path} cannot be removed: ${readProblem(cause)}` })
  })

/** Removes a folder of private files, if it exists. */
export const removePrivateFolder = (path: string): Effect.Effect<void, PrivateFileError> =>
  Effect.try({
    try: () => rmSync(path, { recursive: true, force: true }),
    catch: (cause) => new PrivateFileError({ message: `${path} cannot be removed: ${readProblem(cause)}` })
  })
