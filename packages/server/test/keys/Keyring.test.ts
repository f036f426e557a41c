import { inspect } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import type { Subkeys } from "@coffer/server/keys/Keyring"
import { decrypt, encrypt, lengthPrefixed, makeKeyring, unwrapBytes, wrapBytes } from "@coffer/server/keys/Keyring"
import { Effect, Either, FastCheck, Redacted } from "effect"

const masterKey = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
const keyring = makeKeyring(Redacted.make(masterKey))
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

describe("a keyring", () => {
  // Frozen: what was encrypted by an earlier version must open with every later one.
  const vectors: ReadonlyArray<readonly [label: string, (keys: Subkeys) => string, expected: string]> = [
    [
      "key-encryption",
      (keys) => hex(keys.kek.export()),
      "c4fe8341b990604909531482c04e6fb02a23bcbbf8fe03704767a802c4f29c0d"
    ],
    [
      "backup",
      (keys) => hex(keys.backupKey.export()),
      "98c5ddba41f2d5e01eee6203ca57acc4d92f5528aa6bc6d050b6bb21822de01e"
    ],
    [
      "login-code",
      (keys) => hex(keys.loginCodeKey.export()),
      "3ea1dcf380fa68e5a4345d1531c3b826dfcae89014c5bf034efc335b47872896"
    ],
    ["key-id", (keys) => keys.kekId, "0365e1ebe93082f1"],
    ["fingerprint", (keys) => keys.fingerprint, "57b33cbbbe6a6a9f"]
  ]
  for (const [label, derived, expected] of vectors) {
    it.effect(`derives the same ${label} from a master key as ever`, () =>
      Effect.map(keyring, (keys) => assert.strictEqual(derived(keys), expected))
    )
  }

  it.effect("takes the digits in either case", () =>
    Effect.gen(function* () {
      const upper = yield* makeKeyring(Redacted.make(masterKey.toUpperCase()))
      assert.strictEqual(upper.kekId, (yield* keyring).kekId)
    })
  )

  for (const [what, text] of [
    ["an empty one", ""],
    ["63 digits", masterKey.slice(1)],
    ["65 digits", `${masterKey}0`],
    ["a letter beyond f", `g${masterKey.slice(1)}`],
    ["a newline at the end", `${masterKey}\n`],
    ["a space in place of a digit", ` ${masterKey.slice(1)}`]
  ] as const) {
    it.effect(`refuses a master key with ${what}, and does not show it`, () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(makeKeyring(Redacted.make(text)))
        assert.strictEqual(error._tag, "InvalidMasterKey")
        assert.notInclude(`${error.message}${inspect(error)}`, masterKey.slice(1, 20))
      })
    )
  }

  it.effect("does not show its keys when it is printed", () =>
    Effect.gen(function* () {
      const keys = yield* keyring
      const printed = inspect(keys, { depth: 9, showHidden: true }) + JSON.stringify(keys)
      for (const key of [keys.kek, keys.backupKey, keys.loginCodeKey]) {
        assert.notInclude(printed, hex(key.export()).slice(0, 8))
      }
    })
  )
})

describe("the encoding of additional data", () => {
  it.prop(
    "gives different bytes for different lists of fields",
    [
      FastCheck.array(FastCheck.string({ unit: "binary", maxLength: 4 }), { maxLength: 4 }),
      FastCheck.array(FastCheck.string({ unit: "binary", maxLength: 4 }), { maxLength: 4 })
    ],
    ([a, b]) => {
      assert.strictEqual(lengthPrefixed(...a).equals(lengthPrefixed(...b)), JSON.stringify(a) === JSON.stringify(b))
    }
  )

  const field = FastCheck.oneof(
    FastCheck.string({ unit: "grapheme-ascii", maxLength: 200 }),
    FastCheck.constantFrom("a".repeat(127), "a".repeat(128), "\x7f", "\x80"),
    FastCheck.string({ unit: "binary", maxLength: 4 })
  )
  it.prop("is each field's length and its bytes", [FastCheck.array(field, { maxLength: 4 })], ([fields]) => {
    const whole = fields.flatMap((text) => {
      const length = Buffer.alloc(4)
      length.writeUInt32BE(Buffer.byteLength(text))
      return [length, Buffer.from(text)]
    })
    assert.strictEqual(hex(lengthPrefixed(...fields)), hex(Buffer.concat(whole)))
  })

  it("counts bytes of UTF-8", () => {
    assert.strictEqual(hex(lengthPrefixed("é", "", "a")), "00000002c3a9000000000000000161")
  })
})

describe("decryption", () => {
  const key = Buffer.alloc(32, 1)
  const nonce = Buffer.alloc(12, 2)
  const aad = Buffer.from("aad")
  const encrypted = encrypt(key, nonce, aad, Buffer.from("plaintext"))

  it("gives back what was encrypted, behind its nonce", () => {
    assert.deepStrictEqual(encrypted.subarray(0, 12), nonce)
    assert.strictEqual(Either.getOrThrow(decrypt(key, aad, encrypted)).toString(), "plaintext")
  })

  it("refuses a tag of 4 bytes, which the cipher itself would take", () => {
    assert.isTrue(Either.isLeft(decrypt(key, aad, encrypted.subarray(0, encrypted.length - 12))))
    assert.isTrue(Either.isLeft(decrypt(key, aad, Buffer.concat([nonce, encrypted.subarray(-16, -12)]))))
  })

  it("refuses what is too short for a nonce and a tag", () => {
    for (let length = 0; length < 28; length++) {
      assert.isTrue(Either.isLeft(decrypt(key, aad, encrypted.subarray(0, length))))
    }
  })

  it("refuses other additional data", () => {
    assert.isTrue(Either.isLeft(decrypt(key, Buffer.from("aae"), encrypted)))
  })
})

describe("a wrapped item", () => {
  const bytes = Buffer.alloc(32, 0x11)

  it.effect("unwraps to the bytes that were wrapped, for its own purpose alone", () =>
    Effect.gen(function* () {
      const keys = yield* keyring
      const wrapped = yield* wrapBytes(keys, "audit", bytes)
      assert.deepStrictEqual(Buffer.from(yield* unwrapBytes(keys, "audit", wrapped)), bytes)
      const error = yield* Effect.flip(unwrapBytes(keys, "check", wrapped))
      assert.strictEqual(error.code, "DECRYPTION_FAILED")
    })
  )

  it.effect("has a fresh nonce each time", () =>
    Effect.gen(function* () {
      const keys = yield* keyring
      const nonces = yield* Effect.replicateEffect(wrapBytes(keys, "audit", bytes), 100)
      assert.strictEqual(new Set(nonces.map(({ nonce }) => hex(nonce))).size, 100)
    })
  )

  it.effect("of format 1 opens for ever", () =>
    Effect.gen(function* () {
      const wrapped = {
        format: 1,
        kek_id: "0365e1ebe93082f1",
        nonce: Buffer.alloc(12, 0x33),
        ciphertext: Buffer.from(
          "7851e4a058982fe68da56a8e475bc555505b2ec4af623a3ca397a163a544b1ebdb886546d9f854dece551e07097a27f3",
          "hex"
        )
      }
      assert.deepStrictEqual(Buffer.from(yield* unwrapBytes(yield* keyring, "audit", wrapped)), bytes)
    })
  )

  it.effect("does not open under another master key, in another format, or edited anywhere", () =>
    Effect.gen(function* () {
      const keys = yield* keyring
      const other = yield* makeKeyring(Redacted.make("f".repeat(64)))
      const wrapped = yield* wrapBytes(keys, "audit", bytes)
      yield* Effect.flip(unwrapBytes(other, "audit", wrapped))
      yield* Effect.flip(unwrapBytes({ ...other, kekId: keys.kekId }, "audit", wrapped))
      yield* Effect.flip(unwrapBytes(keys, "audit", { ...wrapped, format: 2 }))
      yield* Effect.flip(unwrapBytes(keys, "audit", { ...wrapped, kek_id: other.kekId }))
      for (const column of ["nonce", "ciphertext"] as const) {
        for (let at = 0; at < wrapped[column].length; at++) {
          const edited = Buffer.from(wrapped[column])
          edited.writeUInt8(edited.readUInt8(at) ^ 1, at)
          yield* Effect.flip(unwrapBytes(keys, "audit", { ...wrapped, [column]: edited }))
        }
      }
    })
  )
})
