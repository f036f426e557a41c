import { Either } from "effect"
import { statSync } from "node:fs"
import type { Environment } from "./Variables.js"

const readableByAll = 0o004

/**
 * The variables whose secret is in a file that everybody on this machine may read. That is told and not refused: containers
 * mount secrets so, each for the one program in them. A link is followed, as Kubernetes makes them.
 */
export const exposedSecrets = (environment: Environment): ReadonlyArray<string> =>
  Object.entries(environment).flatMap(([variable, path]) => {
    if (path === undefined || path === "" || !/^(SERVICE|SMTP|BACKUP)_.*_FILE$/.test(variable)) return []
    const stats = Either.getOrUndefined(Either.try(() => statSync(path)))
    return stats !== undefined && (stats.mode & readableByAll) !== 0 ? [variable] : []
  })
