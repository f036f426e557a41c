import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Settings } from "../../base/Config.js"
import { hostOf } from "../../base/config/Loopback.js"
import { isIP } from "node:net"
import { readCertificate } from "../../http/Certificate.js"
import { failed, type Finding, off, ok, warning } from "./Finding.js"

const dayMillis = 86_400_000
const warnedDays = 14

const coversHost = ({ leaf }: Effect.Effect.Success<ReturnType<typeof readCertificate>>, host: string): boolean =>
  (isIP(host) === 0 ? leaf.checkHost(host) : leaf.checkIP(host)) !== undefined

/** Checks the server's certificate. A running server has one of at most a minute ago. */
export const certificateCheck = ({
  publicUrl,
  tls,
  trustedProxies
}: Pick<Settings, "publicUrl" | "tls" | "trustedProxies">): Effect.Effect<Finding> => {
  if (tls === null) return Effect.succeed(off("tls", "off: the server speaks plain HTTP"))
  return readCertificate(tls).pipe(
    Effect.zipWith(Clock.currentTimeMillis, (pair, now) => {
      const host = publicUrl === null ? null : hostOf(new URL(publicUrl))
      if (host !== null && !coversHost(pair, host)) {
        return warning(
          "tls",
          `the certificate is not for ${host}`,
          "get a certificate for the host of SERVICE_PUBLIC_URL"
        )
      }
      const days = Math.floor((pair.end - now) / dayMillis)
      const message = `the certificate is valid until ${new Date(pair.end).toISOString()} (${days} days)`
      if (days < warnedDays) return warning("tls", message, "renew it: the server reads its files within a minute")
      return trustedProxies === null
        ? warning(
            "tls",
            "clients that reach the server without a proxy can forge their addresses",
            "set SERVICE_TRUSTED_PROXIES to the networks of your proxies, or to none"
          )
        : ok("tls", message)
    }),
    Effect.catchTag("UnusableCertificate", ({ message }) =>
      Effect.succeed(failed("tls", message, "correct the files of SERVICE_TLS_CERT_FILE and SERVICE_TLS_KEY_FILE"))
    )
  )
}
