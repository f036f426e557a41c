import { createCipheriv, createDecipheriv, type DecipherGCM, type KeyObject } from "node:crypto"
import { DecryptionFailed } from "@coffer/domain/errors/Errors"
import * as Either from "effect/Either"
import { nonceBytes, tagBytes } from "../../keys/Keyring.js"

const magic = Buffer.from("CFRB")
const version = 1
const headerBytes = magic.length + 1 + nonceBytes
const cipher = "aes-256-gcm"

/** How many bytes a backup file is larger than its content. */
export const overheadBytes = headerBytes + tagBytes

/**
 * Streams a backup file: the magic `CFRB`, 1 byte version, 12 bytes nonce (used once), then AES-256-GCM ciphertext (NIST SP
 * 800-38D) without additional data, and a tag of 16 bytes.
 */
export async function* sealBackup(
  key: KeyObject,
  nonce: Uint8Array,
  content: AsyncIterable<Uint8Array>
): AsyncGenerator<Uint8Array, void, void> {
  const gcm = createCipheriv(cipher, key, nonce, { authTagLength: tagBytes })
  yield Buffer.concat([magic, Buffer.from([version]), nonce])
  for await (const piece of content) yield gcm.update(piece)
  yield Buffer.concat([gcm.final(), gcm.getAuthTag()])
}

const refused = new DecryptionFailed({
  message: "the backup does not authenticate: it was edited, cut short, or is not a backup of this server's key"
})

/**
 * Decrypts a backup file chunk by chunk. `push` returns plaintext that must not be used before `end` has verified the tag. The
 * last 16 bytes are held back, because they may be the tag.
 */
export class BackupOpener {
  #header = Buffer.alloc(0)
  #held = Buffer.alloc(0)
  #gcm: DecipherGCM | null = null

  constructor(readonly key: KeyObject) {}

  push(piece: Uint8Array): Either.Either<Uint8Array, DecryptionFailed> {
    const wanted = headerBytes - this.#header.length
    if (wanted > 0) this.#header = Buffer.concat([this.#header, piece.subarray(0, wanted)])
    if (this.#header.length < headerBytes) return Either.right(Buffer.alloc(0))
    if (this.#gcm === null) {
      if (!this.#header.subarray(0, magic.length).equals(magic) || this.#header[magic.length] !== version) {
        return Either.left(refused)
      }
      const nonce = this.#header.subarray(magic.length + 1)
      this.#gcm = createDecipheriv(cipher, this.key, nonce, { authTagLength: tagBytes })
    }
    const pending = Buffer.concat([this.#held, piece.subarray(Math.max(0, wanted))])
    const ready = Math.max(0, pending.length - tagBytes)
    this.#held = pending.subarray(ready)
    return Either.right(this.#gcm.update(pending.subarray(0, ready)))
  }

  end(): Either.Either<void, DecryptionFailed> {
    const gcm = this.#gcm
    if (gcm === null || this.#held.length !== tagBytes) return Either.left(refused)
    return Either.try({
      try: () => {
        gcm.setAuthTag(this.#held)
        gcm.final()
      },
      catch: () => refused
    })
  }
}
