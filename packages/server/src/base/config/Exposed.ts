import * as Either from "effect/Either"
import { statSync } from "node:fs"
import type { Environment } from "./Variables.js"

const readableByAll = 0o004

/** Certificates are public, and a key for TLS that all can read is refused. */
const secretFile = /^(SERVICE(?!_TLS)|SMTP|BACKUP)_.*_FILE$/

/**
 * Returns the variables whose secret is in a world-readable file. That is a warning only, because containers mount secrets with
 * this mode. Links are followed, because Kubernetes mounts secrets as links.
 */
export const exposedSecrets = (environment: Environment): ReadonlyArray<string> =>
  Object.entries(environment).flatMap(([variable, path]) => {
    if (path === undefined || path === "" || !secretFile.test(variable)) return []
    const stats = Either.getOrUndefined(Either.try(() => statSync(path)))
    return stats !== undefined && (stats.mode & readableByAll) !== 0 ? [variable] : []
  })
