import { execFileSync, spawnSync } from "node:child_process"
import { X509Certificate } from "node:crypto"
import { chmodSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"

export const hasOpenssl = spawnSync("openssl", ["version"], { stdio: "ignore" }).status === 0

export interface TestCertificate {
  readonly certFile: string
  readonly keyFile: string
  readonly pem: string
  readonly fingerprint: string
}

/** A folder for certificates that goes with the scope. */
export const certificateFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "coffer-tls-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
)

/** Makes a certificate for localhost that is valid for ten days from now on, and its key. */
export const makeCertificate = (folder: string, name: string, curve = "prime256v1"): TestCertificate => {
  const certFile = join(folder, `${name}.crt`)
  const keyFile = join(folder, `${name}.key`)
  const kind = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:${curve} -nodes -days 10 -subj /CN=localhost`
  const names = ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
  execFileSync("openssl", [...kind.split(" "), ...names, "-keyout", keyFile, "-out", certFile], { stdio: "ignore" })
  chmodSync(keyFile, 0o600)
  const pem = readFileSync(certFile, "utf8")
  return { certFile, keyFile, pem, fingerprint: new X509Certificate(pem).fingerprint256 }
}

/** Moves a certificate and its key over others, as a renewal does. */
export const installCertificate = (from: TestCertificate, to: TestCertificate): void => {
  renameSync(from.certFile, to.certFile)
  renameSync(from.keyFile, to.keyFile)
}
