import * as Effect from "effect/Effect"
import { readFileSync } from "node:fs"
import { StartupError } from "../../base/StartupError.js"
import { addonFile } from "./SqliteFile.js"

const platform = `Node ${process.versions.node} on ${process.platform}-${process.arch}`

/**
 * Fails if there is no compiled SQLite, or if it was compiled with the hooks that Node's class for objects of modules has since
 * 24.19. better-sqlite3 12 destroys such objects in garbage collections, where removing the hook aborts the process, at any time.
 * Servers on PostgreSQL make their backups with SQLite.
 */
export const requireSoundAddon = (found?: string): Effect.Effect<void, StartupError> =>
  Effect.suspend(() => {
    const file = found ?? addonFile()
    if (file === undefined) {
      return new StartupError({
        message: `there is no compiled SQLite for ${platform}: use Node 20, 22, 24 or 26, or compile it once, with Python 3 and a C++ compiler: docs/install.md, "SQLite for other platforms"`
      })
    }
    return readFileSync(file).includes("RemoveEnvironmentCleanupHook")
      ? new StartupError({
          message: `${file} was compiled for Node 24.19 or later, which aborts with it: docs/install.md, "SQLite for other platforms", says how to compile it`
        })
      : Effect.void
  })
