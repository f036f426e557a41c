import { readFileSync } from "node:fs"
import type { ConnectionOptions } from "node:tls"
import * as Effect from "effect/Effect"
import { type DatabaseTarget, isSocket } from "../../base/config/DatabaseUrl.js"
import { StartupError } from "../../base/StartupError.js"
import { reasonOf } from "../../base/Reason.js"

/** The driver's setting for TLS: false for none. */
export type Tls = false | ConnectionOptions

const read = (parameter: string, path: string) =>
  Effect.try({
    try: () => readFileSync(path),
    catch: (error) =>
      new StartupError({ message: `the file of ${parameter} in the database's URL cannot be read: ${reasonOf(error)}` })
  })

const optional = (parameter: string, path: string | null) =>
  path === null ? Effect.succeed(undefined) : read(parameter, path)

/**
 * The TLS settings to try, in order, for an `sslmode`. As in libpq, `require` checks the certificate only if there is a root
 * certificate, `verify-ca` does not check the host's name, and a socket never uses TLS.
 */
export const tlsOf = (target: DatabaseTarget): Effect.Effect<ReadonlyArray<Tls>, StartupError> =>
  Effect.gen(function* () {
    const { certificate, key, mode, rootCertificate } = target.tls
    if (mode === "disable" || isSocket(target)) return [false]
    const ca = rootCertificate === "system" ? undefined : yield* optional("sslrootcert", rootCertificate)
    const verifies = mode === "verify-ca" || mode === "verify-full" || ca !== undefined
    if (verifies && ca === undefined && rootCertificate !== "system") {
      return yield* new StartupError({
        message: `sslmode=${mode} in the database's URL needs sslrootcert: the file of the certificate authority, or system`
      })
    }
    const options: ConnectionOptions = {
      rejectUnauthorized: verifies,
      ca,
      cert: yield* optional("sslcert", certificate),
      key: yield* optional("sslkey", key),
      ...(mode !== "verify-full" && { checkServerIdentity: () => undefined })
    }
    if (mode === "allow") return [false, options]
    return mode === "prefer" ? [options, false] : [options]
  })
