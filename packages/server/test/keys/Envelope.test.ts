import { inspect } from "node:util"
import { EnvId, OrgId, ProjectId, SecretId } from "@coffer/domain/base/Ids"
import { SecretKey } from "@coffer/domain/base/Names"
import { maxSecretValueBytes } from "@coffer/domain/secrets/SecretValueForm"
import { SecretValue } from "@coffer/domain/secrets/SecretValues"
import { assert, describe, it } from "@effect/vitest"
import type { Binding, Sealed } from "@coffer/server/keys/Envelope"
import { open, openEither, rewrap, seal } from "@coffer/server/keys/Envelope"
import { makeKeyring } from "@coffer/server/keys/Keyring"
import { Effect, Either, FastCheck, Redacted } from "effect"

const keyring = makeKeyring(Redacted.make("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"))
const otherKeyring = makeKeyring(Redacted.make("f".repeat(64)))

const uuid = (digit: number) => `0192f0c1-5b7e-7c3a-9d2e-00000000000${digit}`

const binding: Binding = {
  orgId: OrgId.make(uuid(1)),
  projectId: ProjectId.make(uuid(2)),
  envId: EnvId.make(uuid(3)),
  secretId: SecretId.make(uuid(4)),
  key: SecretKey.make("DATABASE_URL"),
  version: 7
}

const secret = (text: string) => Redacted.make(SecretValue.make(text))
const value = secret("postgres://app@db.internal/shop")
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")

const columns = ["ciphertext", "wrapped_key"] as const

const nonceOf = (encrypted: Uint8Array) => hex(encrypted.subarray(0, 12))

const refuses = (sealed: Sealed, at: Binding = binding) =>
  Effect.gen(function* () {
    const error = yield* Effect.flip(open(yield* keyring, at, sealed))
    assert.strictEqual(error.code, "DECRYPTION_FAILED")
    assert.notInclude(inspect(error), "postgres")
  })

describe("a sealed secret", () => {
  it.effect.prop(
    "opens to the very value that was sealed",
    [FastCheck.string({ unit: "grapheme", maxLength: 200 }), FastCheck.integer({ min: 1, max: 2_147_483_647 })],
    ([text, version]) =>
      Effect.gen(function* () {
        const keys = yield* keyring
        const at = { ...binding, version }
        const sealed = seal(keys, at, secret(text))
        assert.strictEqual(Redacted.value(yield* open(keys, at, sealed)), text)
        assert.strictEqual(Redacted.value(Either.getOrThrow(openEither(keys, at, sealed))), text)
      })
  )

  for (const [what, text] of [
    ["the empty string", ""],
    ["a NUL byte", "a\0b"],
    ["a value of 64 KB", "x".repeat(maxSecretValueBytes)],
    ["letters beyond ASCII", "ключ 🔑 \u2028\uFEFF"],
    ["a byte order mark first", "\uFEFFx"]
  ] as const) {
    it.effect(`holds ${what}`, () =>
      Effect.gen(function* () {
        const keys = yield* keyring
        const sealed = seal(keys, binding, secret(text))
        assert.strictEqual(Redacted.value(yield* open(keys, binding, sealed)), text)
      })
    )
  }

  it.effect("has the columns and lengths of format 1", () =>
    Effect.gen(function* () {
      const keys = yield* keyring
      const sealed = seal(keys, binding, value)
      assert.strictEqual(sealed.format, 1)
      assert.strictEqual(sealed.kek_id, keys.kekId)
      assert.deepStrictEqual(
        columns.map((column) => sealed[column].length),
        [12 + 31 + 16, 12 + 32 + 16]
      )
    })
  )

  it.effect("shares no nonce and no data key with another sealing of the same value", () =>
    Effect.gen(function* () {
      const all = yield* Effect.replicateEffect(
        Effect.map(keyring, (keys) => seal(keys, binding, value)),
        200
      )
      for (const column of columns) {
        assert.strictEqual(new Set(all.map((sealed) => hex(sealed[column]))).size, 200)
      }
      assert.strictEqual(new Set(all.flatMap((sealed) => columns.map((column) => nonceOf(sealed[column])))).size, 400)
    })
  )

  // Frozen: rows written by an earlier version must open with every later one.
  it.effect("of format 1 opens for ever", () =>
    Effect.gen(function* () {
      const sealed: Sealed = {
        format: 1,
        kek_id: "0365e1ebe93082f1",
        ciphertext: Buffer.from(
          `${"22".repeat(12)}6798743da7bdfa2cdf10f15d38d6a9b17dbda48c1ee4de253323259b618e1587ae40012d2c913dc6a5406f7b203062`,
          "hex"
        ),
        wrapped_key: Buffer.from(
          `${"33".repeat(12)}7851e4a058982fe68da56a8e475bc555505b2ec4af623a3ca397a163a544b1eb3db095646738c5194769d7b7413f5120`,
          "hex"
        )
      }
      assert.strictEqual(Redacted.value(yield* open(yield* keyring, binding, sealed)), Redacted.value(value))
    })
  )

  it.effect("refuses a flipped bit at every place of every column", () =>
    Effect.gen(function* () {
      const sealed = seal(yield* keyring, binding, value)
      for (const column of columns) {
        for (let bit = 0; bit < sealed[column].length * 8; bit++) {
          const edited = Buffer.from(sealed[column])
          edited.writeUInt8(edited.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3)
          yield* refuses({ ...sealed, [column]: edited })
        }
      }
    })
  )

  it.effect("refuses a column that was cut, lengthened or emptied", () =>
    Effect.gen(function* () {
      const sealed = seal(yield* keyring, binding, value)
      for (const column of columns) {
        const bytes = Buffer.from(sealed[column])
        yield* refuses({ ...sealed, [column]: bytes.subarray(1) })
        yield* refuses({ ...sealed, [column]: bytes.subarray(0, -1) })
        yield* refuses({ ...sealed, [column]: Buffer.concat([bytes, Buffer.alloc(1)]) })
        yield* refuses({ ...sealed, [column]: Buffer.alloc(0) })
      }
    })
  )

  it.effect("refuses a tag cut to 4 bytes", () =>
    Effect.gen(function* () {
      const sealed = seal(yield* keyring, binding, value)
      yield* refuses({ ...sealed, ciphertext: sealed.ciphertext.subarray(0, -12) })
      yield* refuses({ ...sealed, wrapped_key: sealed.wrapped_key.subarray(0, -12) })
    })
  )

  it.effect("refuses an unknown format and the id of another key", () =>
    Effect.gen(function* () {
      const sealed = seal(yield* keyring, binding, value)
      yield* refuses({ ...sealed, format: 0 })
      yield* refuses({ ...sealed, format: 2 })
      yield* refuses({ ...sealed, kek_id: "" })
      yield* refuses({ ...sealed, kek_id: (yield* otherKeyring).kekId })
    })
  )

  const moves: Readonly<Record<string, Partial<Binding>>> = {
    organization: { orgId: OrgId.make(uuid(9)) },
    project: { projectId: ProjectId.make(uuid(9)) },
    environment: { envId: EnvId.make(uuid(9)) },
    secret: { secretId: SecretId.make(uuid(9)) },
    key: { key: SecretKey.make("DATABASE_URM") },
    version: { version: 8 }
  }
  for (const [what, move] of Object.entries(moves)) {
    it.effect(`does not open when its row is swapped with one of another ${what}`, () =>
      Effect.gen(function* () {
        const keys = yield* keyring
        const there = { ...binding, ...move }
        const here = seal(keys, binding, value)
        const other = seal(keys, there, value)
        yield* refuses(here, there)
        yield* refuses(other, binding)
      })
    )
  }

  it.effect("does not open with the value of another version under its own data key, nor the other way round", () =>
    Effect.gen(function* () {
      const keys = yield* keyring
      const old = seal(keys, binding, value)
      const current = seal(keys, { ...binding, version: 8 }, value)
      yield* refuses({ ...old, ciphertext: current.ciphertext })
      yield* refuses({ ...old, wrapped_key: current.wrapped_key })
    })
  )

  it.effect("does not open under another master key, even one that claims its id", () =>
    Effect.gen(function* () {
      const sealed = seal(yield* keyring, binding, value)
      const other = yield* otherKeyring
      yield* Effect.flip(open(other, binding, sealed))
      yield* Effect.flip(open({ ...other, kekId: sealed.kek_id }, binding, sealed))
    })
  )

  it.effect("does not show its value when what was opened is printed", () =>
    Effect.gen(function* () {
      const keys = yield* keyring
      const opened = yield* open(keys, binding, seal(keys, binding, value))
      assert.strictEqual(inspect(opened, { showHidden: true }).includes("postgres"), false)
      assert.strictEqual(JSON.stringify({ opened }), '{"opened":"<redacted>"}')
    })
  )
})

describe("a rotation", () => {
  it.effect("wraps the data key anew and leaves the value as it is", () =>
    Effect.gen(function* () {
      const [from, to] = [yield* keyring, yield* otherKeyring]
      const before = seal(from, binding, value)
      const after = yield* rewrap(from, to, binding, before)
      assert.strictEqual(after.kek_id, to.kekId)
      assert.deepStrictEqual(after.ciphertext, before.ciphertext)
      assert.notStrictEqual(nonceOf(after.wrapped_key), nonceOf(before.wrapped_key))
      assert.strictEqual(Redacted.value(yield* open(to, binding, after)), Redacted.value(value))
      yield* Effect.flip(open(from, binding, after))
    })
  )

  it.effect("refuses a data key that it cannot unwrap", () =>
    Effect.gen(function* () {
      const [from, to] = [yield* keyring, yield* otherKeyring]
      const sealed = seal(from, binding, value)
      yield* Effect.flip(rewrap(to, from, binding, sealed))
      yield* Effect.flip(rewrap(from, to, { ...binding, version: 1 }, sealed))
    })
  )
})
