import { createPublicKey, diffieHellman, generateKeyPairSync } from "node:crypto"
import * as Effect from "effect/Effect"

// https://doc.libsodium.org/public-key_cryptography/sealed_boxes: X25519, HSalsa20, BLAKE2b, XSalsa20 and Poly1305.

/** Loaded on demand, because few servers seal boxes. Node has X25519 alone. */
const library = Effect.promise(() =>
  Promise.all([import("@noble/ciphers/salsa.js"), import("@noble/hashes/blake2.js")])
)

const words = (bytes: Uint8Array): Uint32Array => {
  const copy = Uint8Array.from(bytes)
  return new Uint32Array(copy.buffer)
}

const sigma = words(Buffer.from("expand 32-byte k"))

/** Encrypts a text for the holder of a key, by a key pair that nobody keeps. Fails for bytes that are no key. */
export const sealedBox = (publicKey: Uint8Array, text: string): Effect.Effect<string, "no key"> =>
  Effect.flatMap(library, ([{ hsalsa, xsalsa20poly1305 }, { blake2b }]) =>
    Effect.try({
      try: () => {
        const own = generateKeyPairSync("x25519")
        const theirs = createPublicKey({
          key: { kty: "OKP", crv: "X25519", x: Buffer.from(publicKey).toString("base64url") },
          format: "jwk"
        })
        const ownPublic = Buffer.from(own.publicKey.export({ format: "jwk" }).x ?? "", "base64url")
        const shared = diffieHellman({ privateKey: own.privateKey, publicKey: theirs })
        const key = new Uint32Array(8)
        hsalsa(sigma, words(shared), new Uint32Array(4), key)
        const nonce = blake2b(Buffer.concat([ownPublic, publicKey]), { dkLen: 24 })
        const box = xsalsa20poly1305(new Uint8Array(key.buffer), nonce).encrypt(Buffer.from(text))
        return Buffer.concat([ownPublic, box]).toString("base64")
      },
      catch: () => "no key" as const
    })
  )
