import { Context, Effect } from "effect"
import { closeSync, lstatSync, openSync } from "node:fs"
import { StartupError } from "../../base/StartupError.js"
import { reasonOf } from "../../base/Reason.js"

/**
 * Creates the database file with mode 0600 if it does not exist. Fails if the file, or one beside
 * it, is not a regular file or grants rights to group or others.
 */
export const guardDatabaseFile = (path: string): Effect.Effect<void, StartupError> =>
  Effect.gen(function* () {
    for (const file of [path, `${path}-wal`, `${path}-shm`, `${path}.lock`]) {
      const stats = yield* Effect.try({
        try: () => lstatSync(file, { throwIfNoEntry: false }),
        catch: (cause) => new StartupError({ message: `${file} cannot be inspected: ${reasonOf(cause)}` })
      })
      if (stats === undefined) continue
      if (!stats.isFile()) {
        return yield* new StartupError({
          message: `${file} is not a regular file (a link is refused too): name the file itself in SERVICE_DB_PATH`
        })
      }
      if ((stats.mode & 0o077) !== 0) {
        return yield* new StartupError({
          message: `${file} can be read or written by others (mode ${(stats.mode & 0o777).toString(8)}): run chmod 600 ${file}`
        })
      }
    }
    yield* Effect.try({
      try: () => {
        closeSync(openSync(path, "a", 0o600))
      },
      catch: (cause) => new StartupError({ message: `the database ${path} cannot be opened: ${reasonOf(cause)}` })
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
