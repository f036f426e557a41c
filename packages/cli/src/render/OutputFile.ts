import { hasCode, readProblem, writeProblem } from "@coffer/client/internal/FileError"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import {
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync
} from "node:fs"
import { dirname, join } from "node:path"
import { CannotDo } from "../Failures.js"

const problem = (path: string, cause: unknown) =>
  new CannotDo({ message: `${path} cannot be written: ${writeProblem(cause)}` })

/** Whether the file holds this content. */
export const isSame = (content: Buffer) => (current: Buffer) => current.equals(content)

const permissions = 0o7777

/** What the file holds; none where it does not exist. */
export const readOutput = (path: string): Effect.Effect<Option.Option<Buffer>, CannotDo> =>
  Effect.try({
    try: () =>
      lstatSync(path, { throwIfNoEntry: false }) === undefined ? Option.none() : Option.some(readFileSync(path)),
    catch: (cause) => new CannotDo({ message: `${path} cannot be read: ${readProblem(cause)}` })
  })

/** Gives a new file the owner and the permissions of the one that it replaces. */
const inherit = (descriptor: number, { gid, mode, uid }: Stats) => {
  if (uid !== process.getuid?.() || gid !== process.getgid?.()) fchownSync(descriptor, uid, gid)
  // After the owner: a change of the owner takes permissions away.
  fchmodSync(descriptor, mode & permissions)
}

/**
 * Writes a file beside its place, and renames it there. A file that exists keeps its owner and permissions.
 *
 * @param mode the permissions of a file that does not exist.
 */
const writeOutput = (path: string, content: Buffer, mode: number): Effect.Effect<void, CannotDo> =>
  Effect.suspend(() => {
    const temporary = join(dirname(path), `.${globalThis.crypto.randomUUID()}`)
    return Effect.try({
      try: () => {
        const old = lstatSync(path, { throwIfNoEntry: false })
        const descriptor = openSync(temporary, "wx", 0o600)
        writeFileSync(descriptor, content)
        if (old === undefined) fchmodSync(descriptor, mode)
        else inherit(descriptor, old)
        fsyncSync(descriptor)
        closeSync(descriptor)
        renameSync(temporary, path)
      },
      catch: (cause) =>
        hasCode(cause, "EPERM")
          ? new CannotDo({
              message: `${path} belongs to another user or group, which this user cannot keep: run coffer as that user, or remove the file`
            })
          : problem(path, cause)
    }).pipe(Effect.onError(() => Effect.ignore(Effect.try(() => rmSync(temporary, { force: true })))))
  })

/** Writes the file unless it is up to date. Returns whether it has changed. */
export const updateOutput = Effect.fnUntraced(function* (path: string, content: Buffer, mode: number = 0o600) {
  if (Option.exists(yield* readOutput(path), isSame(content))) return false
  yield* writeOutput(path, content, mode)
  return true
})
