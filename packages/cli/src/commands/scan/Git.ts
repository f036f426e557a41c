import * as Command from "@effect/platform/Command"
import type { CommandExecutor } from "@effect/platform/CommandExecutor"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { CannotDo } from "../../base/Failures.js"
import { Batch } from "./Batch.js"
import { FilePath, pathOfBytes, shownPath } from "./FilePath.js"

const zero = "\0"

/** Runs git and takes its output. Fails with what git says if it fails. */
const git = (args: ReadonlyArray<string>, take: (chunk: Uint8Array) => void, input = "") =>
  Effect.gen(function* () {
    const child = yield* Command.start(Command.make("git", ...args).pipe(Command.feed(input)))
    const said = Stream.mkString(Stream.decodeText(child.stderr))
    const read = Stream.runForEach(child.stdout, (chunk) => Effect.sync(() => take(chunk)))
    const [error, , code] = yield* Effect.all([said, read, child.exitCode], { concurrency: "unbounded" })
    if (code !== 0) return yield* new CannotDo({ message: `git: ${error.trim().split("\n")[0] ?? ""}` })
  }).pipe(
    Effect.scoped,
    Effect.catchTags({
      BadArgument: ({ message }) => new CannotDo({ message: `git: ${message}` }),
      SystemError: ({ message, reason }) =>
        new CannotDo({
          message: reason === "NotFound" ? "git is not installed: install it, or name files to scan" : `git: ${message}`
        })
    })
  )

/** The fields of an output with zero bytes between them, as paths are written. */
const fieldsOf = Effect.fnUntraced(function* (args: ReadonlyArray<string>) {
  const chunks: Array<Uint8Array> = []
  yield* git(args, (chunk) => chunks.push(chunk))
  return pathOfBytes(Buffer.concat(chunks)).split(zero).map(FilePath)
})

/** A file as it is staged. */
export interface Staged {
  readonly path: FilePath
  /** The id of its content. */
  readonly blob: string
}

const submodule = "160000"

/**
 * The files that the next commit adds or changes: a field such as `:100644 100644 <old blob> <new blob> M`, and the path.
 */
export const staged: Effect.Effect<ReadonlyArray<Staged>, CannotDo, CommandExecutor> = Effect.gen(function* () {
  // Outside of a repository, `git diff` compares files and does not say that there is none.
  yield* git(["rev-parse", "--git-dir"], () => {})
  const listed = [
    "diff",
    "--cached",
    "--raw",
    "-z",
    "--no-renames",
    "--no-relative",
    "--no-abbrev",
    "--diff-filter=ACMT"
  ]
  const fields = yield* fieldsOf(listed)
  return fields.flatMap((path, index) => {
    const [, mode, , blob] = index % 2 === 1 ? (fields[index - 1] ?? "").split(" ") : []
    return blob === undefined || mode === submodule ? [] : [{ path, blob }]
  })
})

/** The files below a folder that git has, or would add. */
export const filesBelow = (folder: string): Effect.Effect<ReadonlyArray<FilePath>, CannotDo, CommandExecutor> =>
  Effect.map(
    fieldsOf(["--literal-pathspecs", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", folder]),
    (fields) => [...new Set(fields.filter((path) => path !== ""))]
  )

/**
 * Reads staged files, one after another.
 *
 * @param open what takes the chunks of a file.
 */
export const readStaged = Effect.fnUntraced(function* (
  files: ReadonlyArray<Staged>,
  open: (file: Staged) => (chunk: Uint8Array) => void
): Effect.fn.Return<void, CannotDo, CommandExecutor> {
  const missing: Array<FilePath> = []
  const waiting = files.values()
  const batch = new Batch((isThere) => {
    const { value: file } = waiting.next()
    if (!isThere && file !== undefined) missing.push(file.path)
    return file === undefined ? () => {} : open(file)
  })
  yield* git(["cat-file", "--batch"], (chunk) => batch.take(chunk), files.map(({ blob }) => `${blob}\n`).join(""))
  const [path] = missing
  if (path !== undefined)
    return yield* new CannotDo({ message: `git: the content of ${shownPath(path)} is not in the repository` })
})
