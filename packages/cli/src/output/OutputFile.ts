import { hasCode, readProblem, writeProblem } from "@coffer/client/internal/FileError"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import {
  type BigIntStats,
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync
} from "node:fs"
import { dirname, join } from "node:path"
import { CannotDo, type WrongUsage } from "../base/Failures.js"
import type { Input } from "../terminal/Input.js"
import { agrees, canAsk } from "../terminal/Prompts.js"
import { checkIgnored } from "./GitIgnored.js"
import { isRecorded, recordOutput } from "./Record.js"

/** A file that a command writes for its user. */
export interface OutputFile {
  readonly path: string
  /** The option that replaces another file, as it was given. */
  readonly force: boolean
  /** Why another file stays where nobody can be asked, if it takes another sentence than that of `--force`. */
  readonly refusal?: CannotDo | WrongUsage
  /** Whether it holds values in clear text: git must ignore it then. */
  readonly holdsValues: boolean
  /** Whether a file is an earlier output of the command, by its content. False for a file that no command may replace. */
  readonly isOwn: false | ((content: Buffer, stats: BigIntStats) => boolean)
  /** The permissions of a new file; undefined for those of the umask. */
  readonly mode: number | undefined
  /** Whether a file that is replaced keeps its owner and permissions. */
  readonly keepsAccess: boolean
  /** How to write to standard output instead. */
  readonly otherwise?: string
}

/** A file that may be written: what stood there when that was decided. */
export interface OpenOutput {
  readonly file: OutputFile
  readonly before: BigIntStats | undefined
}

const statOf = (path: string) => lstatSync(path, { bigint: true, throwIfNoEntry: false })

const attempt = <A>(path: string, verb: "read" | "written", work: () => A) =>
  Effect.try({
    try: work,
    catch: (cause) =>
      new CannotDo({
        message: `${path} cannot be ${verb}: ${verb === "read" ? readProblem(cause) : writeProblem(cause)}`
      })
  })

/** The content of a file; none where it does not exist. */
export const readOutput = (path: string): Effect.Effect<Option.Option<Buffer>, CannotDo> =>
  attempt(path, "read", () => (statOf(path) === undefined ? Option.none() : Option.some(readFileSync(path))))

/** Whether the file is accessible to its owner, this user, alone. Windows has no such modes. */
export const isPrivate = ({ mode, uid }: BigIntStats): boolean =>
  process.platform === "win32" || ((mode & 0o077n) === 0n && uid === BigInt(process.getuid?.() ?? 0))

/** A larger file is not compared with what the command would write. */
const maxCompared = 64n * 1024n * 1024n

const isOwnOutput = ({ isOwn, path }: OutputFile, stats: BigIntStats) =>
  isOwn === false
    ? Effect.succeed(false)
    : Effect.flatMap(isRecorded(path, stats), (recorded) =>
        recorded || stats.size > maxCompared
          ? Effect.succeed(recorded)
          : Effect.map(
              attempt(path, "read", () => readFileSync(path)),
              (content) => isOwn(content, stats)
            )
      )

/** Asks for what `force` would say. */
const permitReplacing = Effect.fnUntraced(function* ({ isOwn, path, refusal }: OutputFile) {
  const foreign = "not an earlier output of this command"
  if (!(yield* canAsk)) {
    const message = `${path} exists${isOwn === false ? "" : `, and is ${foreign}`}: name another file, or replace it with --force`
    return yield* refusal ?? new CannotDo({ message })
  }
  if (yield* agrees(`Replace ${path}${isOwn === false ? "" : `, which is ${foreign}`}?`)) return
  return yield* new CannotDo({ message: `${path} stays as it is: nothing was written` })
})

/** Checks that a file, or nothing, stands at the path, and that the folder exists. Returns what stands there. */
const checkTarget = Effect.fnUntraced(function* ({ otherwise, path }: OutputFile) {
  const { directory, target } = yield* attempt(path, "written", () => ({
    directory: statOf(dirname(path)),
    target: statOf(path)
  }))
  const refuse = (message: string) => new CannotDo({ message: `${path} ${message}` })
  if (directory === undefined) return yield* refuse("would be in a directory that does not exist; create it first")
  if (target === undefined || target.isFile()) return target
  return yield* target.isSymbolicLink()
    ? refuse("is a symbolic link; name the file that it points to")
    : refuse(`is not a file; ${otherwise ?? "name another one"}`)
})

/** Opens a file that this process has written, or that is only compared. */
export const reopenOutput = (file: OutputFile): Effect.Effect<OpenOutput, CannotDo> =>
  Effect.map(checkTarget(file), (before) => ({ file, before }))

/**
 * Decides whether a file may be written, before anything is read for it: a new one, an empty one, an earlier output of the same
 * command, or another file if the user says so.
 */
export const openOutput = Effect.fnUntraced(function* (
  file: OutputFile
): Effect.fn.Return<OpenOutput, CannotDo | WrongUsage, Input> {
  const before = yield* checkTarget(file)
  if (file.holdsValues && !file.force) yield* checkIgnored(file.path)
  const isFree = before === undefined || file.force || (file.isOwn !== false && before.size === 0n)
  if (!isFree && !(yield* isOwnOutput(file, before))) yield* permitReplacing(file)
  return { file, before }
})

/** Gives a new file the owner and the permissions of the one that it replaces. */
const inherit = (descriptor: number, { gid, mode, uid }: BigIntStats) => {
  const isForeign = uid !== BigInt(process.getuid?.() ?? 0) || gid !== BigInt(process.getgid?.() ?? 0)
  if (isForeign) fchownSync(descriptor, Number(uid), Number(gid))
  // After the owner: a change of the owner takes permissions away.
  fchmodSync(descriptor, Number(mode) & 0o7777)
}

/** Makes the new name survive a loss of power. Windows opens no folder. */
const flushFolder = Option.liftThrowable((path: string) => {
  const folder = openSync(path, "r")
  fsyncSync(folder)
  closeSync(folder)
})

/** Names the file where none stood. A file that another program made meanwhile is kept. */
const nameNew = (temporary: string, path: string) => {
  const linked = Option.liftThrowable(() => linkSync(temporary, path))()
  // Some file systems have no hard links.
  if (Option.isNone(linked)) {
    closeSync(openSync(path, "wx", 0o600))
    renameSync(temporary, path)
  }
}

const isUnchanged = (before: BigIntStats, now: BigIntStats | undefined) =>
  now !== undefined && now.ino === before.ino && now.mtimeNs === before.mtimeNs && now.size === before.size

const meanwhile = (path: string) =>
  new CannotDo({ message: `another program wrote ${path} meanwhile, and it stays as that left it: try again` })

/** Writes one piece of a file. */
export type WriteChunk = (chunk: Uint8Array) => Effect.Effect<void, CannotDo>

/**
 * Writes a file as a whole or not at all: beside its place, flushed to the disk, then renamed. A symbolic link is not followed.
 * Returns the file's state.
 */
export const writeOutput = <E, R>(
  { before, file }: OpenOutput,
  body: (write: WriteChunk) => Effect.Effect<void, E, R>
): Effect.Effect<void, CannotDo | E, R> => {
  const { keepsAccess, mode, path } = file
  const temporary = join(dirname(path), `.${globalThis.crypto.randomUUID()}`)
  const writing = <A>(work: () => A) =>
    Effect.try({
      try: work,
      catch: (cause) => {
        if (hasCode(cause, "EEXIST")) return meanwhile(path)
        return new CannotDo({
          message: hasCode(cause, "EPERM")
            ? `${path} belongs to another user or group, which this user cannot keep: run coffer as that user, or remove the file`
            : `${path} cannot be written: ${writeProblem(cause)}`
        })
      }
    })
  const name = Effect.gen(function* () {
    if (before === undefined) return yield* writing(() => nameNew(temporary, path))
    if (!isUnchanged(before, statOf(path))) return yield* meanwhile(path)
    yield* writing(() => renameSync(temporary, path))
  })
  return Effect.acquireUseRelease(
    writing(() => openSync(temporary, "wx", mode === undefined ? 0o666 : 0o600)),
    (descriptor) =>
      Effect.gen(function* () {
        yield* body((chunk) => writing(() => writeFileSync(descriptor, chunk)))
        yield* writing(() => {
          if (before !== undefined && keepsAccess) inherit(descriptor, before)
          else if (mode !== undefined) fchmodSync(descriptor, mode)
          fsyncSync(descriptor)
        })
        yield* name
        flushFolder(dirname(path))
        const after = statOf(path)
        if (after !== undefined && file.isOwn !== false) yield* recordOutput(path, after)
      }),
    (descriptor) =>
      Effect.sync(() => {
        closeSync(descriptor)
        rmSync(temporary, { force: true })
      })
  )
}

/** Whether the file holds this content. */
export const isSame = (content: Buffer) => (current: Buffer) => current.equals(content)

/** Writes the file unless it is up to date. Returns whether it has changed. */
export const updateOutput = Effect.fnUntraced(function* (output: OpenOutput, content: Buffer) {
  if (Option.exists(yield* readOutput(output.file.path), isSame(content))) return false
  yield* writeOutput(output, (write) => write(content))
  return true
})
