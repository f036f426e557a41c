import { createSecretKey, randomBytes, webcrypto } from "node:crypto"
import { BackupOpener, overheadBytes, sealBackup } from "@coffer/server/operations/backups/BackupFile"
import { Either } from "effect"
import fc from "fast-check"
import { assert, describe, it } from "vitest"

const key = createSecretKey(Buffer.from("07".repeat(32), "hex"))
const nonce = Buffer.from("0102030405060708090a0b0c", "hex")

async function* inPieces(content: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < content.length; at += size) yield await Promise.resolve(content.subarray(at, at + size))
}

const sealed = async (content: Uint8Array, size = 7, iv: Uint8Array = nonce): Promise<Buffer> => {
  const pieces: Array<Uint8Array> = []
  for await (const piece of sealBackup(key, iv, inPieces(content, size))) pieces.push(piece)
  return Buffer.concat(pieces)
}

/** The content, or null when the file was refused. */
const opened = (file: Uint8Array, size = file.length || 1): Buffer | null => {
  const opener = new BackupOpener(key)
  const pieces: Array<Uint8Array> = []
  for (let at = 0; at < file.length; at += size) {
    const piece = opener.push(file.subarray(at, at + size))
    if (Either.isLeft(piece)) return null
    pieces.push(piece.right)
  }
  return Either.isRight(opener.end()) ? Buffer.concat(pieces) : null
}

describe("the backup file", () => {
  it("has its format for ever", async () => {
    const file = await sealed(Buffer.from("SQLite format 3\0"))
    assert.strictEqual(
      file.toString("hex"),
      "43465242" +
        "01" +
        "0102030405060708090a0b0c" +
        "e82da4f71e8fc24a8a4c6f7fe18790400fb8b5d8acf0e9d6bb0af14db5c617d4"
    )
  })

  it("is what WebCrypto opens by the format's description alone", async () => {
    const content = randomBytes(100_000)
    const file = await sealed(content, 4096, randomBytes(12))
    assert.strictEqual(file.length, content.length + overheadBytes)
    const imported = await webcrypto.subtle.importKey("raw", key.export(), "AES-GCM", false, ["decrypt"])
    const plain = await webcrypto.subtle.decrypt(
      { name: "AES-GCM", iv: file.subarray(5, 17), tagLength: 128 },
      imported,
      file.subarray(17)
    )
    assert.isTrue(content.equals(Buffer.from(plain)))
  })

  it("opens in whatever pieces it was made and comes", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uint8Array({ maxLength: 300 }),
        fc.integer({ min: 1, max: 320 }),
        fc.integer({ min: 1, max: 320 }),
        async (content, made, comes) => {
          assert.isTrue(opened(await sealed(content, made), comes)?.equals(content))
        }
      )
    )
  })

  it("is refused with any bit of it changed, cut anywhere, or with anything added", async () => {
    const file = await sealed(randomBytes(4096), 1000)
    for (let at = 0; at < file.length; at++) {
      for (const bit of at < 17 || at >= file.length - 16 ? [0, 1, 2, 3, 4, 5, 6, 7] : [at % 8]) {
        const changed = Buffer.from(file)
        changed[at] = (changed[at] ?? 0) ^ (1 << bit)
        assert.isNull(opened(changed), `bit ${bit} of byte ${at}`)
      }
      assert.isNull(opened(file.subarray(0, at)), `cut at ${at}`)
    }
    assert.isNull(opened(Buffer.concat([file, Buffer.from([0])])))
    assert.isNotNull(opened(file))
  })

  it("is refused under another key", async () => {
    const opener = new BackupOpener(createSecretKey(randomBytes(32)))
    opener.push(await sealed(Buffer.from("content")))
    assert.isTrue(Either.isLeft(opener.end()))
  })
})
