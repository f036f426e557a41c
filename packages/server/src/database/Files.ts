import { Effect } from "effect"
import { closeSync, lstatSync, openSync } from "node:fs"
import { StartupError } from "../StartupError.js"
import { reasonOf } from "./Reason.js"

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
