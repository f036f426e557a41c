import Sqlite from "better-sqlite3"
import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"
import { StartupError } from "../../base/StartupError.js"

/** The compiled SQLite of this process. The first database loads it. */
export const loadedAddon = (): string | undefined => {
  new Sqlite(":memory:").close()
  return Object.keys(createRequire(import.meta.url).cache).find((file) => file.endsWith("better_sqlite3.node"))
}

/**
 * Fails if SQLite was compiled with the hooks that Node's class for objects of modules has since 24.19. better-sqlite3 12 destroys
 * such objects in garbage collections, where removing the hook aborts the process, at any time. Servers on PostgreSQL make their
 * backups with SQLite.
 */
export const requireSoundAddon = (found?: string): Effect.Effect<void, StartupError> =>
  Effect.suspend(() => {
    const file = found ?? loadedAddon()
    return file !== undefined && readFileSync(file).includes("RemoveEnvironmentCleanupHook")
      ? new StartupError({
          message: `${file} was compiled for Node 24.19 or later, which aborts with it: the page Installation of the documentation says how to compile it, in its section on npm`
        })
      : Effect.void
  })
