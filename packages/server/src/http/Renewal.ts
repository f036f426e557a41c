import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Metric from "effect/Metric"
import * as Schedule from "effect/Schedule"
import type { TlsSettings } from "../base/config/TlsSettings.js"
import { type CertificatePair, readCertificate } from "./Certificate.js"

/** The end of the validity of the certificate in use, in milliseconds since 1970; 0 without one. */
export const certificateEnd = Metric.gauge("tls_certificate_end_millis")

const endOf = ({ end }: CertificatePair): string => new Date(end).toISOString()

const isSame = (a: CertificatePair, b: CertificatePair): boolean =>
  a.options.cert.equals(b.options.cert) && a.options.key.equals(b.options.key)

/**
 * Reads the files of the certificate every 30 seconds, and calls `use` with a new pair. Connections that exist keep theirs. A pair
 * that cannot be used is refused with one line in the log, and the previous one stays.
 */
export const renewCertificate = (
  settings: TlsSettings,
  first: CertificatePair,
  use: (pair: CertificatePair) => void
) => {
  let current = first
  let refused: string | null = null
  const replace = (pair: CertificatePair) =>
    Effect.suspend(() => {
      use(pair)
      current = pair
      return Effect.zipRight(
        Metric.set(certificateEnd, pair.end),
        Effect.logInfo(`the certificate was replaced: the new one is valid until ${endOf(pair)}`)
      )
    })
  const look = Effect.flatMap(
    Effect.either(readCertificate(settings)),
    Either.match({
      onLeft: ({ message }) => {
        if (message === refused) return Effect.void
        refused = message
        return Effect.logError(`the certificate in use stays, which is valid until ${endOf(current)}: ${message}`)
      },
      onRight: (pair) => {
        refused = null
        return isSame(pair, current) ? Effect.void : replace(pair)
      }
    })
  )
  return Effect.zipRight(
    Metric.set(certificateEnd, first.end),
    Effect.forkScoped(Effect.schedule(Effect.catchAllCause(look, Effect.logError), Schedule.spaced("30 seconds")))
  )
}
