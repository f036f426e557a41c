import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto"
import { type FileHandle, open } from "node:fs/promises"
import { createSecureContext, type SecureContextOptions } from "node:tls"
import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type { TlsSettings } from "../base/config/TlsSettings.js"

/** A certificate with its key that the server can use now. */
export interface CertificatePair {
  readonly options: SecureContextOptions & { readonly cert: Buffer; readonly key: Buffer }
  readonly leaf: X509Certificate
  /** The end of its validity, in milliseconds since 1970. */
  readonly end: number
}

/** Why a certificate with its key cannot be used, in a sentence without the content of a file. */
export class UnusableCertificate extends Data.TaggedError("UnusableCertificate")<{ readonly message: string }> {}

const certFile = "SERVICE_TLS_CERT_FILE"
const keyFile = "SERVICE_TLS_KEY_FILE"
const readableByAll = 0o004

const codeOf = (error: unknown): string =>
  Predicate.hasProperty(error, "code") && typeof error.code === "string" ? error.code : "unknown reason"

const unusable = (message: string) => new UnusableCertificate({ message })

const attempt = <A>(read: () => A, message: (code: string) => string): Effect.Effect<A, UnusableCertificate> =>
  Effect.try({ try: read, catch: (error) => unusable(message(codeOf(error))) })

/** The content and the mode are those of one file, also if a renewal replaces it meanwhile. */
const readOpen = (variable: string, path: string, isSecret: boolean) => {
  const failed = (error: unknown) => unusable(`${variable} must name a file that can be read (${codeOf(error)})`)
  const use = (handle: FileHandle) =>
    Effect.tryPromise({
      try: async () => ({ mode: (await handle.stat()).mode, content: await handle.readFile() }),
      catch: failed
    })
  return Effect.acquireUseRelease(Effect.tryPromise({ try: () => open(path), catch: failed }), use, (handle) =>
    Effect.promise(() => handle.close())
  ).pipe(
    Effect.filterOrFail(
      ({ content }) => content.length > 0,
      () => unusable(`the file of ${variable} is empty`)
    ),
    Effect.filterOrFail(
      ({ mode }) => !isSecret || (mode & readableByAll) === 0,
      () => unusable(`every user of this machine can read the file of ${keyFile}: run chmod o-rwx on it`)
    ),
    Effect.map(({ content }) => content)
  )
}

/** The error of an encrypted key differs between versions of OpenSSL. */
const keyMessage = (key: Buffer) => (): string =>
  key.includes("ENCRYPTED")
    ? `the private key of ${keyFile} has a passphrase: store it without one`
    : `the file of ${keyFile} has no private key in PEM form`

const isoOf = (date: string): string => new Date(date).toISOString()

/** The curves of ECDSA in TLS 1.3 (RFC 8446, section 4.2.3). OpenSSL loads a key of another, and then refuses every client. */
const curves: ReadonlyArray<string | undefined> = ["prime256v1", "secp384r1", "secp521r1"]

/** Checks that clients can use the key, and that a certificate has it and is valid now. */
const judge = (leaf: X509Certificate, key: KeyObject) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => {
    if (key.asymmetricKeyType === "ec" && !curves.includes(key.asymmetricKeyDetails?.namedCurve)) {
      return unusable(`the key of ${keyFile} is of a curve that no client takes: use P-256, P-384 or P-521`)
    }
    if (!leaf.checkPrivateKey(key)) {
      return unusable(`the key of ${keyFile} does not belong to the first certificate of ${certFile}`)
    }
    if (Date.parse(leaf.validTo) <= now) {
      return unusable(`the certificate of ${certFile} expired at ${isoOf(leaf.validTo)}`)
    }
    return Date.parse(leaf.validFrom) > now
      ? unusable(
          `the certificate of ${certFile} is valid only from ${isoOf(leaf.validFrom)} on: check this machine's clock`
        )
      : Effect.void
  })

/** Reads the certificate and its key, and checks that clients can use them now. */
export const readCertificate = ({
  certFile: certPath,
  keyFile: keyPath,
  minVersion
}: TlsSettings): Effect.Effect<CertificatePair, UnusableCertificate> =>
  Effect.gen(function* () {
    const cert = yield* readOpen(certFile, certPath, false)
    const key = yield* readOpen(keyFile, keyPath, true)
    const leaf = yield* attempt(
      () => new X509Certificate(cert),
      () => `the file of ${certFile} has no certificate in PEM form`
    )
    yield* judge(leaf, yield* attempt(() => createPrivateKey(key), keyMessage(key)))
    const options = { cert, key, minVersion }
    yield* attempt(
      () => createSecureContext(options),
      (code) => `OpenSSL refuses the certificate of ${certFile} or its key (${code})`
    )
    return { options, leaf, end: Date.parse(leaf.validTo) }
  })
