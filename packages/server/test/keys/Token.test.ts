import { createHash } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import type { TokenKind } from "@coffer/server/keys/Token"
import { hashToken, isWellFormed, keyHint, mintToken } from "@coffer/server/keys/Token"
import { Effect, Redacted } from "effect"

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
const mint = (kind: TokenKind) => Effect.map(mintToken(kind), Redacted.value)

for (const [kind, prefix, other] of [
  ["session", "svc_st_", "apiKey"],
  ["apiKey", "svc_sa_", "session"],
  ["delegation", "svc_dt_", "session"],
  ["federated", "svc_ft_", "keySession"],
  ["keySession", "svc_kt_", "federated"]
] as const) {
  describe(`a token of the kind ${kind}`, () => {
    it.effect(`is ${prefix} and 49 base62 characters, and is recognised as nothing else`, () =>
      Effect.gen(function* () {
        const tokens = yield* Effect.replicateEffect(mint(kind), 500)
        for (const token of tokens) {
          assert.match(token, new RegExp(`^${prefix}[0-9A-Za-z]{49}$`))
          assert.isTrue(isWellFormed(kind, token))
          assert.isFalse(isWellFormed(other, token))
        }
        assert.strictEqual(new Set(tokens).size, 500)
      })
    )

    it.effect("is refused after any change of a single character", () =>
      Effect.gen(function* () {
        const token = yield* mint(kind)
        for (let at = 0; at < token.length; at++) {
          for (const character of `${alphabet}_- é`) {
            if (character !== token.charAt(at)) {
              assert.isFalse(isWellFormed(kind, token.slice(0, at) + character + token.slice(at + 1)))
            }
          }
        }
      })
    )

    it.effect("is refused with two neighbours swapped, cut, lengthened, or with something around it", () =>
      Effect.gen(function* () {
        const token = yield* mint(kind)
        for (let at = 7; at < token.length - 1; at++) {
          const swapped = token.slice(0, at) + token.charAt(at + 1) + token.charAt(at) + token.slice(at + 2)
          assert.isTrue(swapped === token || !isWellFormed(kind, swapped))
        }
        for (const text of [
          "",
          prefix,
          token.slice(0, -1),
          `${token}0`,
          ` ${token}`,
          `${token}\n`,
          token.toLowerCase()
        ]) {
          assert.isFalse(isWellFormed(kind, text))
        }
      })
    )
  })
}

describe("the random characters of tokens", () => {
  it.effect("are spread evenly over the alphabet", () =>
    Effect.gen(function* () {
      const counts = new Map(Array.from(alphabet, (character): [string, number] => [character, 0]))
      for (const token of yield* Effect.replicateEffect(mint("session"), 4_000)) {
        for (const character of token.slice(7, 50)) {
          counts.set(character, (counts.get(character) ?? 0) + 1)
        }
      }
      const expected = (4_000 * 43) / 62
      const chiSquare = [...counts.values()].reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0)
      // 61 degrees of freedom: beyond 140 once in ten million runs.
      assert.isBelow(chiSquare, 140)
    })
  )
})

describe("the checksum", () => {
  // Frozen: keys that are out in the world must stay valid. CRC-32 of 43 zeros is 0x7849568F by Python's zlib.
  it("is the CRC-32 of the characters after the prefix, in base62", () => {
    assert.isTrue(isWellFormed("apiKey", `svc_sa_${"0".repeat(43)}2CZclj`))
  })
})

describe("what is kept of a token", () => {
  it("is its SHA-256 in lowercase hex", () => {
    assert.strictEqual(hashToken("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    assert.strictEqual(hashToken("é"), createHash("sha256").update("é", "utf8").digest("hex"))
  })

  it("is its last four characters, as a hint", () => {
    assert.strictEqual(keyHint("svc_sa_abcdefgh"), "efgh")
  })
})
