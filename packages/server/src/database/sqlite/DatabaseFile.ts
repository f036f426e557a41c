import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { chmodSync, closeSync, lstatSync, openSync } from "node:fs"
import { dirname, resolve } from "node:path"
import { isOwn, modeOf, usableDirectory, usableFile } from "../../base/files/Permission.js"
import { StartupError } from "../../base/StartupError.js"
import { reasonOf } from "../../base/Reason.js"
import { earlierCopies } from "./EarlierCopies.js"

const refused = (message: string) => new StartupError({ message })

/** The file of a database, SQLite's files beside it, and the lock. */
const filesOf = (path: string): ReadonlyArray<string> => [path, `${path}-wal`, `${path}-shm`, `${path}.lock`]

/** Whether a server that starts sets the mode of this file to 600. */
export const isGuarded = (path: string, file: string): boolean =>
  [...filesOf(path), ...earlierCopies(path)].some((guarded) => resolve(guarded) === resolve(file))

const restrict = (file: string, mode: string) =>
  Effect.zipRight(
    Effect.try({
      try: () => {
        chmodSync(file, 0o600)
      },
      catch: (cause) => refused(`the mode of ${file} cannot be changed: ${reasonOf(cause)}`)
    }),
    Effect.logWarning(`others could read or write ${file} (mode ${mode}): its mode is 600 now`)
  )

const inspect = (file: string) =>
  Effect.try({
    try: () => lstatSync(file, { throwIfNoEntry: false }),
    catch: (cause) => refused(`${file} cannot be inspected: ${reasonOf(cause)}`)
  })

const isExposed = ({ mode }: { readonly mode: number }): boolean => (mode & 0o077) !== 0

const guardFile = (file: string) =>
  Effect.gen(function* () {
    const stats = yield* inspect(file)
    if (stats === undefined) return
    if (!stats.isFile()) {
      return yield* refused(
        `${file} is not a regular file (a link is refused too): name the file itself in SERVICE_DB_PATH`
      )
    }
    if (isExposed(stats)) {
      const mode = modeOf(stats)
      if (!isOwn(stats)) {
        return yield* refused(
          `${file} can be read or written by others (mode ${mode}), and belongs to user ${stats.uid}: make the server's user its owner, and run chmod 600 ${file}`
        )
      }
      yield* restrict(file, mode)
    }
    yield* Either.mapLeft(usableFile(file), (reason) => refused(`${file} ${reason}`))
  })

/** The server opens these copies only to erase from them, so those of another user do not prevent a start. */
const guardCopy = (file: string) =>
  Effect.flatMap(inspect(file), (stats) =>
    stats !== undefined && stats.isFile() && isOwn(stats) && isExposed(stats)
      ? restrict(file, modeOf(stats))
      : Effect.void
  )

/**
 * Creates the database file with mode 0600 if it does not exist. Sets this mode on its other files too: a volume with `fsGroup`
 * opens them to the group at each start of a pod. Fails if a file is not regular, cannot be written, or is open to others and
 * belongs to another user.
 */
export const guardDatabaseFile = (path: string): Effect.Effect<void, StartupError> =>
  Effect.gen(function* () {
    const folder = dirname(resolve(path))
    yield* Either.mapLeft(usableDirectory(folder), (reason) =>
      refused(`the directory ${folder} of the database ${reason} (SQLite creates files in it)`)
    )
    yield* Effect.forEach(filesOf(path), guardFile, { discard: true })
    yield* Effect.forEach(earlierCopies(path), guardCopy, { discard: true })
    yield* Effect.try({
      try: () => {
        closeSync(openSync(path, "a", 0o600))
      },
      catch: (cause) => refused(`the database ${path} cannot be opened: ${reasonOf(cause)}`)
    })
  })

/** The path of the open database file, and a read descriptor. */
export class DatabaseFile extends Context.Tag("@coffer/server/DatabaseFile")<
  DatabaseFile,
  { readonly path: string; readonly descriptor: number }
>() {}

/**
 * Opens the only descriptor outside SQLite. Acquire it before the first connection, so that it is closed last. Closing
 * it releases all POSIX locks of this process on the file, and another program could then delete the write-ahead log.
 */
export const openDescriptor = (path: string) =>
  Effect.acquireRelease(
    Effect.try({
      try: () => openSync(path, "r"),
      catch: (cause) => new StartupError({ message: `the database ${path} cannot be opened: ${reasonOf(cause)}` })
    }),
    (descriptor) => Effect.sync(() => closeSync(descriptor))
  ).pipe(Effect.map((descriptor) => DatabaseFile.of({ path, descriptor })))
