import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { createHash, createPublicKey, type KeyObject, verify } from "node:crypto"
import { createReadStream } from "node:fs"
import { lstat, readdir, readFile } from "node:fs/promises"
import { join, relative, sep } from "node:path"
import { pipeline } from "node:stream/promises"

/** The four things that a release proves, in the order in which they are checked. */
export const releaseChecks = ["sums", "signature", "provenance", "version"] as const
export type ReleaseCheck = (typeof releaseChecks)[number]

/** A release that is not what it says. */
export class NotGenuine extends Data.TaggedError("NotGenuine")<{
  readonly check: ReleaseCheck
  readonly message: string
}> {}

/** The files that prove the others, which SHA256SUMS cannot name. */
const proofs = ["SHA256SUMS", "SHA256SUMS.sig", "SHA256SUMS.sshsig", "provenance.intoto.jsonl"] as const
type Proof = (typeof proofs)[number]

const maxProofBytes = 4 * 1024 * 1024

export type Sums = ReadonlyMap<string, string>

const refuse = (check: ReleaseCheck) => (message: string) => new NotGenuine({ check, message })

const notSums = refuse("sums")
const notSigned = refuse("signature")
const notProven = refuse("provenance")

/** Reads one of the proofs of a release, or fails with what it is for. A link or a pipe may have no end. */
const proof = (folder: string, name: Proof, otherwise: NotGenuine): Effect.Effect<Buffer, NotGenuine> =>
  Effect.gen(function* () {
    const path = join(folder, name)
    const found = yield* Effect.tryPromise(() => lstat(path))
    if (!found.isFile() || found.size > maxProofBytes) return yield* otherwise
    return yield* Effect.tryPromise(() => readFile(path))
  }).pipe(Effect.mapError(() => otherwise))

const sumLine = /^([0-9a-f]{64}) {2}(.+)$/

/** Whether a path stays in its folder, spelt as a release spells it. */
const isWithin = (path: string): boolean =>
  !path.includes("\\") && path.split("/").every((part) => part !== "" && part !== "." && part !== "..")

/** Reads SHA256SUMS: the digest of each file by its path. */
export const parseSums = (text: string): Effect.Effect<Sums, NotGenuine> => {
  const sums = new Map<string, string>()
  for (const [index, line] of text.split("\n").entries()) {
    if (line === "") continue
    const [, digest, path] = sumLine.exec(line) ?? []
    if (digest === undefined || path === undefined || !isWithin(path)) {
      return notSums(`SHA256SUMS, line ${index + 1}: is not a digest, two spaces and the name of a file`)
    }
    if (sums.has(path)) return notSums(`SHA256SUMS, line ${index + 1}: names ${path} again`)
    sums.set(path, digest)
  }
  return sums.size === 0 ? notSums("SHA256SUMS names no file") : Effect.succeed(sums)
}

/** The digest of a regular file; undefined if there is none. */
const digestOf = (path: string): Effect.Effect<string | undefined> =>
  Effect.gen(function* () {
    if (!(yield* Effect.tryPromise(() => lstat(path))).isFile()) return undefined
    const hash = createHash("sha256")
    yield* Effect.tryPromise(() => pipeline(createReadStream(path), hash))
    return hash.digest("hex")
  }).pipe(Effect.orElseSucceed(() => undefined))

const filesBelow = (folder: string): Effect.Effect<ReadonlyArray<string>> =>
  Effect.promise(async () => {
    const found = await readdir(folder, { recursive: true, withFileTypes: true })
    return found
      .filter((entry) => !entry.isDirectory())
      .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/"))
      .sort()
  })

/** Compares every file of a folder with SHA256SUMS. Fails for one that is missing, changed, or in no line of it. */
export const checkSums = Effect.fnUntraced(function* (folder: string) {
  const text = yield* proof(
    folder,
    "SHA256SUMS",
    notSums(`${folder} has no SHA256SUMS: give the folder of a release, with all of its files`)
  )
  const sums = yield* parseSums(text.toString("utf8"))
  for (const [path, digest] of sums) {
    const found = yield* digestOf(join(folder, path))
    if (found === undefined) return yield* notSums(`${path} is missing; SHA256SUMS names it`)
    if (found !== digest) return yield* notSums(`${path} is not the file that SHA256SUMS names: download it again`)
  }
  const others: ReadonlyArray<string> = proofs
  const stranger = (yield* filesBelow(folder)).find((path) => !sums.has(path) && !others.includes(path))
  if (stranger !== undefined)
    return yield* notSums(`${stranger} is no file of the release: SHA256SUMS does not name it`)
  return { sums, text }
})

/** The fingerprint of a public key: the SHA-256 of its SubjectPublicKeyInfo (RFC 5280) in base64. */
export const fingerprintOf = (key: KeyObject): string =>
  `SHA256:${createHash("sha256")
    .update(key.export({ type: "spki", format: "der" }))
    .digest("base64")
    .replace(/=+$/, "")}`

/** Reads a public key in PEM. Fails unless it is one of ECDSA on the curve P-256 (FIPS 186-5). */
export const parseKey = (pem: string): Effect.Effect<KeyObject, NotGenuine> => {
  const wrong = notSigned("the key is no public key of the curve P-256 in PEM")
  if (pem.includes("PRIVATE KEY")) return notSigned("the key is a private key, which nobody but the publisher may have")
  return Effect.filterOrFail(
    Effect.try({ try: () => createPublicKey(pem), catch: () => wrong }),
    (key) => key.asymmetricKeyDetails?.namedCurve === "prime256v1",
    () => wrong
  )
}

const base64 = /^[A-Za-z0-9+/]+={0,2}$/

/** The bytes of a signature in base64; undefined if it is damaged: DER begins with a sequence of its own length. */
const signatureIn = (text: string): Buffer | undefined => {
  const trimmed = text.trim()
  const bytes = base64.test(trimmed) ? Buffer.from(trimmed, "base64") : undefined
  return bytes?.[0] === 0x30 && bytes[1] === bytes.length - 2 ? bytes : undefined
}

/** Checks `SHA256SUMS.sig`: ECDSA over SHA256SUMS, DER in base64, as `cosign verify-blob` takes it. */
export const checkSignature = Effect.fnUntraced(function* (folder: string, sums: Buffer, key: KeyObject) {
  const unsigned = notSigned("the release is not signed: it has no SHA256SUMS.sig")
  const signature = signatureIn((yield* proof(folder, "SHA256SUMS.sig", unsigned)).toString("utf8"))
  if (signature === undefined) return yield* notSigned("SHA256SUMS.sig is damaged: it holds no signature in base64")
  if (!verify("sha256", sums, key, signature)) {
    return yield* notSigned(
      `SHA256SUMS was not signed by the key ${fingerprintOf(key)}: the key is another one, or the file was changed`
    )
  }
})

const payloadType = "application/vnd.in-toto+json"

const Envelope = Schema.parseJson(
  Schema.Struct({
    payloadType: Schema.Literal(payloadType),
    payload: Schema.String,
    signatures: Schema.NonEmptyArray(Schema.Struct({ sig: Schema.String }))
  })
)

const Statement = Schema.parseJson(
  Schema.Struct({
    predicateType: Schema.Literal("https://slsa.dev/provenance/v1"),
    subject: Schema.Array(Schema.Struct({ name: Schema.String, digest: Schema.Struct({ sha256: Schema.String }) })),
    predicate: Schema.Struct({
      buildDefinition: Schema.Struct({
        externalParameters: Schema.Struct({ version: Schema.String }),
        resolvedDependencies: Schema.NonEmptyArray(
          Schema.Struct({ digest: Schema.Struct({ gitCommit: Schema.String }) })
        )
      })
    })
  })
)

/** Checks `provenance.intoto.jsonl` (DSSE v1, SLSA v1): signed by the key, and about exactly the files of SHA256SUMS. */
export const checkProvenance = Effect.fnUntraced(function* (folder: string, sums: Sums, key: KeyObject) {
  const name = "provenance.intoto.jsonl"
  const text = yield* proof(folder, name, notProven(`the release does not say how it was made: it has no ${name}`))
  const damaged = () => notProven(`${name} is damaged: it is no signed statement of a release`)
  const envelope = yield* Effect.mapError(Schema.decodeUnknown(Envelope)(text.toString("utf8")), damaged)
  const payload = Buffer.from(envelope.payload, "base64")
  const signed = Buffer.concat([Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${payload.length} `), payload])
  const isSigned = envelope.signatures.some(({ sig }) => {
    const signature = signatureIn(sig)
    return signature !== undefined && verify("sha256", signed, key, signature)
  })
  if (!isSigned) return yield* notProven(`${name} was not signed by the key ${fingerprintOf(key)}, or was changed`)
  const { predicate, subject } = yield* Effect.mapError(
    Schema.decodeUnknown(Statement)(payload.toString("utf8")),
    damaged
  )
  const isSame = ({ digest, name: path }: (typeof subject)[number]) => sums.get(path) === digest.sha256
  if (subject.length !== sums.size || !subject.every(isSame)) {
    return yield* notProven(`${name} is of another release: its files are not those of SHA256SUMS`)
  }
  const { externalParameters, resolvedDependencies } = predicate.buildDefinition
  return { version: externalParameters.version, commit: resolvedDependencies[0].digest.gitCommit }
})
