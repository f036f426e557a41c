import { Email } from "@coffer/domain/base/Names"
import { assert, describe, it } from "@effect/vitest"
import { makeKeyring } from "@coffer/server/keys/Keyring"
import { macCode, mintCode, sameMac } from "@coffer/server/keys/LoginCode"
import { Effect, Redacted, Schema } from "effect"

const keyring = makeKeyring(Redacted.make("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"))
const email = Schema.decodeSync(Email)
const ada = email("ada@example.com")
const id = "0192f0c1-5b7e-7c3a-9d2e-000000000005"
const code = Redacted.make("042137")

describe("a login code", () => {
  it.effect("has 6 digits, zeros in front included", () =>
    Effect.gen(function* () {
      const codes = (yield* Effect.replicateEffect(mintCode, 2_000)).map(Redacted.value)
      for (const text of codes) {
        assert.match(text, /^[0-9]{6}$/)
      }
      assert.isAbove(new Set(codes).size, 1_900)
      assert.isTrue(codes.some((text) => text.startsWith("0")))
    })
  )

  it.effect("does not show when it is printed", () =>
    Effect.map(mintCode, (minted) => assert.strictEqual(JSON.stringify({ minted }), '{"minted":"<redacted>"}'))
  )

  // Frozen: a restart on a new version must not lock out who holds a code.
  it.effect("is stored as an HMAC-SHA256 that never changes", () =>
    Effect.map(keyring, (keys) =>
      assert.strictEqual(
        Buffer.from(macCode(keys, ada, id, code)).toString("hex"),
        "4769223b4c8275956b468fd4edb0a34b551fdd3e0aa9dab9f5be8e98dd9db4b8"
      )
    )
  )

  it.effect("is good for one address, one record and one master key", () =>
    Effect.gen(function* () {
      const keys = yield* keyring
      const other = yield* makeKeyring(Redacted.make("f".repeat(64)))
      const mac = macCode(keys, ada, id, code)
      assert.isTrue(sameMac(mac, macCode(keys, ada, id, Redacted.make("042137"))))
      assert.isFalse(sameMac(mac, macCode(keys, ada, id, Redacted.make("042138"))))
      assert.isFalse(sameMac(mac, macCode(keys, email("bob@example.com"), id, code)))
      assert.isFalse(sameMac(mac, macCode(keys, ada, `${id}0`, Redacted.make("42137"))))
      assert.isFalse(sameMac(mac, macCode(other, ada, id, code)))
    })
  )
})

describe("the comparison of two MACs", () => {
  it("calls different lengths different, and does not fail on them", () => {
    assert.isFalse(sameMac(Buffer.alloc(32), Buffer.alloc(31)))
    assert.isFalse(sameMac(Buffer.alloc(0), Buffer.alloc(32)))
    assert.isTrue(sameMac(Buffer.alloc(32), new Uint8Array(32)))
  })
})
