import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto"
import type { BundleRequest, BundleSecret } from "./BundleClient.js"
import { isArray, parseJson } from "./ParseJson.js"

/** The bundle that a copy is of, and the credential that opens the copy. */
export type CopySource = Pick<BundleRequest, "credential" | "keys" | "path" | "server">

/**
 * An encrypted copy of a bundle: AES-256-GCM (NIST SP 800-38D) under a key that is derived from the credential by
 * HKDF-SHA-256 (RFC 5869) with a salt of its own, so that no key is ever used twice and nothing but the credential opens
 * it. What it is a copy of, and when it was made, is authenticated with it.
 */
const format = "coffer offline copy 1"

const derive = ({ credential }: CopySource, salt: Buffer) =>
  Buffer.from(hkdfSync("sha256", Redacted.value(credential.secret), salt, format, 32))

const context = ({ credential, keys, path, server }: CopySource, savedAt: number) =>
  Buffer.from(
    JSON.stringify([
      format,
      savedAt,
      server.base,
      path.org_name,
      path.project_name,
      path.env_name,
      [...keys].sort(),
      credential.type
    ])
  )

/** The content of a copy: secrets, and the keys whose references were refused, each with the server's sentence. */
export interface Copied {
  readonly secrets: ReadonlyArray<BundleSecret>
  readonly refused: ReadonlyMap<string, string>
}

/**
 * The text of the file. A refused key has null in place of a value: earlier programs, which know no such keys, read no copy then.
 *
 * @param savedAt when the server gave the secrets, in milliseconds since 1970.
 */
export const sealCopy = (source: CopySource, { refused, secrets }: Copied, savedAt: number): string => {
  const salt = randomBytes(32)
  const nonce = randomBytes(12)
  const cipher = createCipheriv("aes-256-gcm", derive(source, salt), nonce).setAAD(context(source, savedAt))
  const plain = JSON.stringify([
    ...secrets.map(({ key, value }) => [key, Redacted.value(value)]),
    ...[...refused].map(([key, why]) => [key, null, why])
  ])
  const data = Buffer.concat([cipher.update(plain, "utf8"), cipher.final(), cipher.getAuthTag()])
  const text = (bytes: Buffer) => bytes.toString("base64")
  return `${JSON.stringify({ format, savedAt, salt: text(salt), nonce: text(nonce), data: text(data) })}\n`
}

const bytesOf = (found: unknown, name: string, length?: number): Option.Option<Buffer> => {
  if (!Predicate.hasProperty(found, name)) return Option.none()
  const text = found[name]
  if (typeof text !== "string") return Option.none()
  const bytes = Buffer.from(text, "base64")
  return length === undefined || bytes.length === length ? Option.some(bytes) : Option.none()
}

const decode = (pairs: ReadonlyArray<unknown>): Option.Option<Copied> => {
  const secrets: Array<BundleSecret> = []
  const refused = new Map<string, string>()
  for (const pair of pairs) {
    const [key, value, why] = isArray(pair) ? pair : []
    if (typeof key !== "string") return Option.none()
    if (typeof value === "string") secrets.push({ key, value: Redacted.make(value) })
    else if (typeof why === "string") refused.set(key, why)
    else return Option.none()
  }
  return Option.some({ secrets, refused })
}

const tagLength = 16

const decrypt = Option.liftThrowable((key: Buffer, nonce: Buffer, aad: Buffer, data: Buffer) => {
  const decipher = createDecipheriv("aes-256-gcm", key, nonce, { authTagLength: tagLength })
    .setAAD(aad)
    .setAuthTag(data.subarray(data.length - tagLength))
  const plain = decipher.update(data.subarray(0, data.length - tagLength))
  return Buffer.concat([plain, decipher.final()]).toString("utf8")
})

/** Decrypts a copy. Returns none if it belongs to another place or credential, or was modified. */
export const openCopy = (source: CopySource, text: string): Option.Option<Copied & { readonly savedAt: number }> =>
  Option.gen(function* () {
    const found = yield* parseJson(text)
    const salt = yield* bytesOf(found, "salt", 32)
    const nonce = yield* bytesOf(found, "nonce", 12)
    const data = yield* bytesOf(found, "data")
    if (!Predicate.hasProperty(found, "savedAt") || typeof found.savedAt !== "number" || data.length < tagLength) {
      return yield* Option.none()
    }
    const { savedAt } = found
    const pairs = yield* Option.flatMap(decrypt(derive(source, salt), nonce, context(source, savedAt), data), parseJson)
    return { savedAt, ...(yield* isArray(pairs) ? decode(pairs) : Option.none()) }
  })
