import { areUsable, keysOf, parseKeySet } from "@coffer/server/directory/federations/Jwks"
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
  it("are for signatures, and what is kept of them is short text", async () => {
    for (const wrong of [
      { kid: "x".repeat(257) },
      { kid: 1 },
      { kid: ["x"] },
      { kid: "x\u0000" },
      { kid: "x\ud800" },
      { alg: "x".repeat(257) },
      { x: "x".repeat(257) },
      { use: "enc" },
      { key_ops: ["encrypt"] },
      { key_ops: "verify" }
    ]) {
      assert.isFalse(await isUsable({ ...sound, ...wrong }), JSON.stringify(wrong).slice(0, 40))
    }
    for (const right of [
      { kid: "x".repeat(256) },
      { use: "sig" },
      { key_ops: ["verify"] },
      { x5c: ["x".repeat(1_000)] }
    ]) {
      assert.isTrue(await isUsable({ ...sound, ...right }), JSON.stringify(right).slice(0, 40))
    }
  })

  it("have the members of their thumbprint, and no others, whatever was uploaded", () => {
    const jwk = JSON.stringify({ e: sound.e, kty: sound.kty, n: sound.n })
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.anything()), ({ alg: _, key_ops: __, use: ___, ...others }) => {
        assert.deepStrictEqual(keysOf({ keys: [{ ...others, ...sound }] }), [{ kid: "sound", alg: "RS256", jwk }])
      })
    )
  })

  it("are for tokens of one algorithm, or for no tokens", () => {
    const algOf = (more: object) => keysOf({ keys: [{ ...sound, ...more }] })[0]?.alg
    assert.strictEqual(algOf({ alg: "RS256", use: "sig" }), "RS256")
    for (const other of [{ alg: "RS512" }, { alg: 1 }, { use: "enc" }, { key_ops: ["encrypt"] }]) {
      assert.isNull(algOf(other), JSON.stringify(other))
    }
  })
})
