import { createPrivateKey, createPublicKey, diffieHellman, generateKeyPairSync, type KeyObject } from "node:crypto"
import { hsalsa, xsalsa20poly1305 } from "@noble/ciphers/salsa.js"
import { blake2b } from "@noble/hashes/blake2.js"
import { token } from "../KvServer.js"
import { type Answer, type Arrived, jsonOf, makeTimes, pageOf, type Platform } from "./StandIn.js"

const words = (bytes: Uint8Array) => new Uint32Array(Uint8Array.from(bytes).buffer)

/** Opens a sealed box, by https://doc.libsodium.org/public-key_cryptography/sealed_boxes. */
export const opened = (box: Uint8Array, privateKey: KeyObject): string => {
  const theirs = box.subarray(0, 32)
  const own = Buffer.from(createPublicKey(privateKey).export({ format: "jwk" }).x ?? "", "base64url")
  const publicKey = createPublicKey({
    key: { kty: "OKP", crv: "X25519", x: Buffer.from(theirs).toString("base64url") },
    format: "jwk"
  })
  const key = new Uint32Array(8)
  hsalsa(
    words(Buffer.from("expand 32-byte k")),
    words(diffieHellman({ privateKey, publicKey })),
    new Uint32Array(4),
    key
  )
  const nonce = blake2b(Buffer.concat([theirs, own]), { dkLen: 24 })
  return Buffer.from(xsalsa20poly1305(new Uint8Array(key.buffer), nonce).decrypt(box.subarray(32))).toString()
}

export const privateKeyOf = (raw: Uint8Array): KeyObject =>
  createPrivateKey({
    key: Buffer.concat([Buffer.from("302e020100300506032b656e04220420", "hex"), raw]),
    format: "der",
    type: "pkcs8"
  })

/**
 * Secrets of Actions, by https://docs.github.com/en/rest/actions/secrets: names in capitals, sealed boxes for the public key, 201 for a
 * new secret and 204 for an old one, `visibility` for those of organizations, pages of at most 100.
 */
export const githubPlatform = (base: string): Platform => {
  const { privateKey, publicKey } = generateKeyPairSync("x25519")
  const key = Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url").toString("base64")
  const held = new Map<string, { value: string; updated_at: string; visibility?: string }>()
  const time = makeTimes()
  const refused = (status: number, message: string): Answer => ({ status, json: { message } })

  const put = (name: string, arrived: Arrived): Answer => {
    const { encrypted_value, key_id, visibility } = jsonOf(arrived)
    if (!/^(?!GITHUB_)[A-Z_][A-Z0-9_]*$/.test(name)) return refused(422, "Secret names are letters, digits and _")
    if (key_id !== "568250167242549743" || typeof encrypted_value !== "string") return refused(422, "Bad request")
    if (base.startsWith("/orgs/") && !["all", "private", "selected"].includes(String(visibility))) {
      return refused(422, "visibility is missing")
    }
    const value = opened(Buffer.from(encrypted_value, "base64"), privateKey)
    if (Buffer.byteLength(value) > 48 * 1024) return refused(422, "Secrets are limited to 48 KB")
    const isNew = !held.has(name)
    held.set(name, {
      ...{ value, updated_at: time() },
      ...(base.startsWith("/orgs/") && { visibility: String(visibility) })
    })
    return { status: isNew ? 201 : 204 }
  }

  return {
    answer: (arrived) => {
      const { headers, method, url } = arrived
      if (headers.authorization !== `Bearer ${token}`) return refused(401, "Bad credentials")
      if (headers["user-agent"] === undefined) return refused(403, "Request forbidden by administrative rules")
      if (headers["x-github-api-version"] !== "2022-11-28") return refused(400, "no version")
      if (url.pathname === base && method === "GET") {
        const rows = [...held].map(([name, { value: _value, ...row }]) => ({
          name,
          created_at: row.updated_at,
          ...row
        }))
        return { status: 200, json: { total_count: rows.length, secrets: pageOf(rows, arrived) } }
      }
      const [, name] = new RegExp(`^${base}/([^/]+)$`).exec(url.pathname) ?? []
      if (name === undefined) return refused(404, "Not Found")
      if (name === "public-key" && method === "GET") return { status: 200, json: { key_id: "568250167242549743", key } }
      if (method === "PUT") return put(name, arrived)
      if (method === "DELETE") return held.delete(name) ? { status: 204 } : refused(404, "Not Found")
      return refused(404, "Not Found")
    },
    values: () => Object.fromEntries([...held].map(([name, { value }]) => [name, value])),
    write: (name, value) => {
      if (value === null) held.delete(name)
      else held.set(name, { value, updated_at: time() })
    }
  }
}
