import * as Option from "effect/Option"
import { readFileSync } from "node:fs"
import { rootCertificates } from "node:tls"

/** The certificates of common systems. */
const systemBundles = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/ca-bundle.pem",
  "/etc/ssl/cert.pem"
]

const read = Option.liftThrowable((path: string) => readFileSync(path, "utf8"))

const readText = (path: string | undefined): string =>
  path === undefined || path === "" ? "" : Option.getOrElse(read(path), () => "")

type Inherited = Readonly<Record<string, string | undefined>>

/** The variables that name a file of certificates, by the programs that read them. */
export const bundleVariables = [
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_FILE",
  "REQUESTS_CA_BUNDLE",
  "CURL_CA_BUNDLE",
  "GIT_SSL_CAINFO",
  "DENO_CERT"
] as const

/**
 * The certificates for the program: those that it would trust without the proxy, because most of the variables replace the
 * system's, and the authority of this run.
 */
export const bundleOf = (certificate: string, inherited: Inherited): string => {
  const own = [...new Set(bundleVariables.map((name) => inherited[name]))].map(readText)
  const system = systemBundles.map(readText).find((text) => text !== "") ?? rootCertificates.join("\n")
  return [certificate, ...own, system].filter((text) => text !== "").join("\n")
}
