import { areUsable, parseKeySet, withoutOthers } from "@coffer/server/directory/federations/Jwks"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import { generateKeyPairSync, type JsonWebKey } from "node:crypto"
import fc from "fast-check"

const rsa = (modulusLength: number): JsonWebKey =>
  generateKeyPairSync("rsa", { modulusLength }).publicKey.export({ format: "jwk" })
const sound = { ...rsa(2_048), kid: "sound" }
const isUsable = (key: object) => Effect.runPromise(areUsable({ keys: [{ ...key }] }))
/** Whether a fetched set keeps the key, for tokens that name it. */
const isKept = (key: object) =>
  Either.getOrThrow(parseKeySet(JSON.stringify({ keys: [{ ...key, kid: "this" }] }))).has("this")

describe("an RSA key of an issuer", () => {
  it("needs an odd exponent from 3 to 2^32, and a modulus of 2,048 to 8,192 bits", async () => {
    const hugeModulus = Buffer.alloc(1_025, 0xff).toString("base64url")
    for (const wrong of [
      { e: "AQ" },
      { e: "Ag" },
      { e: "AA" },
      { e: "" },
      { e: "AQAAAAE" },
      { e: sound.n },
      { n: rsa(1_024).n },
      { n: hugeModulus },
      { n: "" }
    ]) {
      assert.isFalse(await isUsable({ ...sound, ...wrong }), JSON.stringify(wrong).slice(0, 40))
      assert.isFalse(isKept({ ...sound, ...wrong }), JSON.stringify(wrong).slice(0, 40))
    }
    for (const right of [{}, { e: "Aw" }]) {
      assert.isTrue(await isUsable({ ...sound, ...right }))
      assert.isTrue(isKept({ ...sound, ...right }))
    }
  })
})

describe("the keys that are stored", () => {
  it("have the members that verification reads, and no others, whatever was uploaded", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.anything()), (others) => {
        const [key = {}] = withoutOthers({ keys: [{ ...others, ...sound }] }).keys
        for (const name of Object.keys(key)) {
          assert.include(["kty", "use", "key_ops", "alg", "kid", "n", "e", "crv", "x", "y"], name)
        }
        assert.deepInclude(key, sound)
      })
    )
  })
})
