import { Context, Effect } from "effect"
import { closeSync, lstatSync, openSync } from "node:fs"
import { StartupError } from "../../StartupError.js"
import { reasonOf } from "../Reason.js"

/**
 * Makes a database file that nobody else can read, or checks that the one that is there is so: a regular file, not a
 * link, without rights for group and others; its `-wal` and `-shm` too.
 */
export const guardDatabaseFile = (path: string): Effect.Effect<void, StartupError> =>
  Effect.gen(function* () {
    for (const file of [path, `${path}-wal`, `${path}-shm`, `${path}.lock`]) {
      const stats = yield* Effect.try({
        try: () => lstatSync(file, { throwIfNoEntry: false }),
        catch: (cause) => new StartupError({ message: `${file} cannot be looked at: ${reasonOf(cause)}` })
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

/** The open database file: its path, and a descriptor to read it with. */
export class DatabaseFile extends Context.Tag("@coffer/server/DatabaseFile")<
  DatabaseFile,
  { readonly path: string; readonly descriptor: number }
>() {}

/**
 * Opens the file beside SQLite, for as long as SQLite has it. To close any descriptor of a file ends all locks that the process
 * holds on it (POSIX): another program would then take the file for unused, and remove its write-ahead log. So acquire this
 * before the first connection, and open no other.
 */
export const openDescriptor = (path: string) =>
  Effect.acquireRelease(
    Effect.try({
      try: () => openSync(path, "r"),
      catch: (cause) => new StartupError({ message: `the database ${path} cannot be opened: ${reasonOf(cause)}` })
    }),
    (descriptor) => Effect.sync(() => closeSync(descriptor))
  ).pipe(Effect.map((descriptor) => DatabaseFile.of({ path, descriptor })))
