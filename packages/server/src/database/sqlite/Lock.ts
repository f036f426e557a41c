import * as Effect from "effect/Effect"
import type { Scope } from "effect/Scope"
import { existsSync, writeFileSync } from "node:fs"
import { StartupError } from "../../base/StartupError.js"
import { isBusy, reasonOf } from "../../base/Reason.js"
import { openFile } from "./SqliteFile.js"

/**
 * Locks a database file for the life of the scope, and fails if another process holds the lock. An exclusive
 * transaction on `{path}.lock` is the lock, so the system releases it however the process dies.
 */
export const lock = (path: string): Effect.Effect<void, StartupError, Scope> =>
  Effect.acquireRelease(
    Effect.try({
      try: () => {
        const file = `${path}.lock`
        // SQLite would create it with the default mode. Closing an existing one would release the lock of this process on it.
        if (!existsSync(file)) writeFileSync(file, "", { flag: "a", mode: 0o600 })
        const holder = openFile(file, { timeout: 0 })
        holder.pragma("journal_mode = MEMORY")
        holder.exec("BEGIN EXCLUSIVE")
        return holder
      },
      catch: (cause) =>
        new StartupError({
          message: isBusy(cause)
            ? `the database ${path} is in use by another coffer-server or an offline command: stop that one first`
            : `the lock ${path}.lock cannot be taken: ${reasonOf(cause)}`
        })
    }),
    (holder) => Effect.sync(() => holder.close())
  ).pipe(Effect.asVoid)
