import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto"
import { createSecureContext, type SecureContext } from "node:tls"
import { bits, boolean, explicit, implicit, integer, octets, oid, sequence, set, utcTime, utf8 } from "./Der.js"

/** A certificate authority in memory, for the hosts of one run alone. */
export interface Authority {
  /** In PEM. */
  readonly certificate: string
  /** The key and certificate of a host, made when it is first needed. */
  readonly contextFor: (host: string) => SecureContext
}

const ecdsaWithSha256 = sequence(oid("1.2.840.10045.4.3.2"))

const nameOf = (text: string): Buffer => sequence(set(sequence(oid("2.5.4.3"), utf8(text))))

const extension = (id: string, isCritical: boolean, content: Uint8Array): Buffer =>
  sequence(oid(id), ...(isCritical ? [boolean(true)] : []), octets(content))

/** By their numbers in RFC 5280, 4.2.1. */
const ids = {
  subjectKey: "2.5.29.14",
  keyUsage: "2.5.29.15",
  alternativeName: "2.5.29.17",
  basicConstraints: "2.5.29.19",
  nameConstraints: "2.5.29.30",
  authorityKey: "2.5.29.35",
  extendedUsage: "2.5.29.37",
  serverAuth: "1.3.6.1.5.5.7.3.1"
}

const keyCertSign = bits(Buffer.from([0b0000_0100]), 2)
const digitalSignature = bits(Buffer.from([0b1000_0000]), 7)

const hour = 3_600_000
const lifeMillis = 30 * 24 * hour

interface Terms {
  readonly issuer: string
  readonly subject: string
  readonly publicKey: KeyObject
  readonly signer: KeyObject
  readonly now: number
  readonly extensions: ReadonlyArray<Uint8Array>
}

const spki = (key: KeyObject): Buffer => key.export({ type: "spki", format: "der" })

const keyId = (key: KeyObject): Buffer => createHash("sha256").update(spki(key)).digest().subarray(0, 20)

const pem = (der: Uint8Array): string =>
  `-----BEGIN CERTIFICATE-----\n${(
    Buffer.from(der)
      .toString("base64")
      .match(/.{1,64}/g) ?? []
  ).join("\n")}\n-----END CERTIFICATE-----\n`

/** Signs a certificate (RFC 5280, 4.1). */
const certificateOf = ({ extensions, issuer, now, publicKey, signer, subject }: Terms): string => {
  const serial = randomBytes(16)
  serial[0] = ((serial[0] ?? 0) & 0x7f) | 0x40
  const body = sequence(
    explicit(0, integer(Buffer.from([2]))),
    integer(serial),
    ecdsaWithSha256,
    nameOf(issuer),
    // Clocks of containers differ.
    sequence(utcTime(now - hour), utcTime(now + lifeMillis)),
    nameOf(subject),
    spki(publicKey),
    explicit(3, sequence(...extensions))
  )
  return pem(sequence(body, ecdsaWithSha256, bits(sign("sha256", body, signer))))
}

const makeKey = () => generateKeyPairSync("ec", { namedCurve: "prime256v1" })

/** Makes an authority that can vouch for these names and for no others: its own certificate says so (RFC 5280, 4.2.1.10). */
export const makeAuthority = (names: ReadonlyArray<string>, now: number): Authority => {
  const { privateKey, publicKey } = makeKey()
  const issuer = "Coffer proxy of one run"
  const own = keyId(publicKey)
  const permitted = explicit(0, Buffer.concat(names.map((name) => sequence(implicit(2, Buffer.from(name))))))
  const certificate = certificateOf({
    issuer,
    subject: issuer,
    publicKey,
    signer: privateKey,
    now,
    extensions: [
      extension(ids.basicConstraints, true, sequence(boolean(true), integer(Buffer.from([0])))),
      extension(ids.keyUsage, true, keyCertSign),
      extension(ids.nameConstraints, true, sequence(permitted)),
      extension(ids.subjectKey, false, octets(own))
    ]
  })
  const contexts = new Map<string, SecureContext>()
  const contextFor = (host: string): SecureContext => {
    const known = contexts.get(host)
    if (known !== undefined) return known
    const leaf = makeKey()
    const cert = certificateOf({
      issuer,
      subject: host.slice(0, 64),
      publicKey: leaf.publicKey,
      signer: privateKey,
      now,
      extensions: [
        extension(ids.basicConstraints, true, sequence()),
        extension(ids.keyUsage, true, digitalSignature),
        extension(ids.extendedUsage, false, sequence(oid(ids.serverAuth))),
        extension(ids.alternativeName, false, sequence(implicit(2, Buffer.from(host)))),
        extension(ids.authorityKey, false, sequence(implicit(0, own))),
        extension(ids.subjectKey, false, octets(keyId(leaf.publicKey)))
      ]
    })
    const made = createSecureContext({ key: leaf.privateKey.export({ type: "pkcs8", format: "pem" }), cert })
    contexts.set(host, made)
    return made
  }
  return { certificate, contextFor }
}
