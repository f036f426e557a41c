/**
 * Signatures of a release: of its sums, and of a statement of how it was made. The key is the publisher's: it is never made or kept
 * here. The public key of `release-key.pem`, if the file is there, is built into the client.
 */
import { createHash, createPrivateKey, createPublicKey, sign } from "node:crypto"
import { readFile } from "node:fs/promises"

const payloadType = "application/vnd.in-toto+json"

const digest = (content) => createHash("sha256").update(content).digest()

/** The SHA-256 of a public key's SubjectPublicKeyInfo (RFC 5280), in base64: what SECURITY.md names. */
export const fingerprintOf = (key) =>
  `SHA256:${digest(createPublicKey(key).export({ type: "spki", format: "der" }))
    .toString("base64")
    .replace(/=+$/, "")}`

/** Reads the key that COFFER_RELEASE_KEY_FILE names: PEM, ECDSA on the curve P-256. Undefined if it names none. */
export const releaseKey = async (file = process.env.COFFER_RELEASE_KEY_FILE) => {
  if (file === undefined || file === "") return undefined
  const refuse = () => {
    throw new Error(
      `${file} holds no private key of the curve P-256 in PEM: openssl ecparam -name prime256v1 -genkey -noout`
    )
  }
  const text = await readFile(file)
  let key
  try {
    key = createPrivateKey(text)
  } catch {
    refuse()
  }
  return key.asymmetricKeyDetails?.namedCurve === "prime256v1" ? key : refuse()
}

/** A field of an SSH message (RFC 4251, section 5). */
const field = (content) => {
  const bytes = Buffer.from(content)
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  return Buffer.concat([length, bytes])
}

/** A positive number of an SSH message. */
const mpint = (bytes) => {
  const start = bytes.findIndex((byte) => byte !== 0)
  const number = bytes.subarray(start)
  return field(number[0] >= 0x80 ? Buffer.concat([Buffer.from([0]), number]) : number)
}

const armoured = (bytes) =>
  [
    "-----BEGIN SSH SIGNATURE-----",
    ...bytes.toString("base64").match(/.{1,70}/g),
    "-----END SSH SIGNATURE-----",
    ""
  ].join("\n")

/** A signature for `ssh-keygen -Y verify -n file` (PROTOCOL.sshsig of OpenSSH). */
const sshSignature = (key, message) => {
  const type = field("ecdsa-sha2-nistp256")
  const { x, y } = createPublicKey(key).export({ format: "jwk" })
  const point = Buffer.concat([Buffer.from([4]), Buffer.from(x, "base64url"), Buffer.from(y, "base64url")])
  const about = [field("file"), field(""), field("sha512")]
  const hash = field(createHash("sha512").update(message).digest())
  const raw = sign("sha256", Buffer.concat([Buffer.from("SSHSIG"), ...about, hash]), { key, dsaEncoding: "ieee-p1363" })
  const signature = Buffer.concat([type, field(Buffer.concat([mpint(raw.subarray(0, 32)), mpint(raw.subarray(32))]))])
  const version = Buffer.from([0, 0, 0, 1])
  const publicKey = field(Buffer.concat([type, field("nistp256"), field(point)]))
  return armoured(Buffer.concat([Buffer.from("SSHSIG"), version, publicKey, ...about, field(signature)]))
}

/** Returns the provenance of a release: an in-toto statement with a predicate of SLSA v1. It has no time and no machine. */
const statementOf = (sums, { commit, version }) => ({
  _type: "https://in-toto.io/Statement/v1",
  subject: sums
    .trimEnd()
    .split("\n")
    .map((line) => ({ name: line.slice(66), digest: { sha256: line.slice(0, 64) } })),
  predicateType: "https://slsa.dev/provenance/v1",
  predicate: {
    buildDefinition: {
      buildType: "npm run release",
      externalParameters: { version },
      internalParameters: {},
      resolvedDependencies: [{ name: "source", digest: { gitCommit: commit } }]
    },
    runDetails: { builder: { id: "scripts/release/main.mjs" } }
  }
})

/** The statement in an envelope (DSSE v1), on one line. */
const envelopeOf = (key, statement) => {
  const payload = Buffer.from(JSON.stringify(statement))
  const signed = Buffer.concat([Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${payload.length} `), payload])
  const sig = sign("sha256", signed, { key, dsaEncoding: "der" }).toString("base64")
  const envelope = {
    payloadType,
    payload: payload.toString("base64"),
    signatures: [{ keyid: fingerprintOf(key), sig }]
  }
  return `${JSON.stringify(envelope)}\n`
}

/**
 * Returns the files that prove a release.
 *
 * @param key the private key of `releaseKey`
 * @param sums the text of SHA256SUMS
 * @param source the version, and the commit that it was made from
 */
export const signatures = (key, sums, source) => ({
  "SHA256SUMS.sig": `${sign("sha256", Buffer.from(sums), { key, dsaEncoding: "der" }).toString("base64")}\n`,
  "SHA256SUMS.sshsig": sshSignature(key, sums),
  "provenance.intoto.jsonl": envelopeOf(key, statementOf(sums, source))
})
