import * as Either from "effect/Either"
import { statSync } from "node:fs"
import type { Environment } from "./Variables.js"

const readableByAll = 0o004

/**
 * Returns the variables whose secret is in a world-readable file. That is a warning only, because containers mount secrets with
 * this mode. Links are followed, because Kubernetes mounts secrets as links.
 */
export const exposedSecrets = (environment: Environment): ReadonlyArray<string> =>
  Object.entries(environment).flatMap(([variable, path]) => {
    if (path === undefined || path === "" || !/^(SERVICE|SMTP|BACKUP)_.*_FILE$/.test(variable)) return []
    const stats = Either.getOrUndefined(Either.try(() => statSync(path)))
    return stats !== undefined && (stats.mode & readableByAll) !== 0 ? [variable] : []
  })
