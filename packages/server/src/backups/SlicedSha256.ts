import { createHash, createHmac } from "node:crypto"
import { setImmediate } from "node:timers/promises"

type Data = string | ArrayBuffer | ArrayBufferView

const sliceBytes = 256 * 1024

const bytesOf = (data: Data): Uint8Array =>
  typeof data === "string"
    ? Buffer.from(data)
    : ArrayBuffer.isView(data)
      ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
      : new Uint8Array(data)

/**
 * SHA-256, or HMAC under a secret, as the AWS SDK asks for it: in slices, between which the event loop gets to its other
 * work. A part of an upload at once would hold every request up for milliseconds.
 */
export class SlicedSha256 {
  readonly #hash
  #pieces: ReadonlyArray<Uint8Array> = []

  constructor(secret?: Data) {
    this.#hash = secret === undefined ? createHash("sha256") : createHmac("sha256", bytesOf(secret))
  }

  update(data: Data): void {
    this.#pieces = [...this.#pieces, bytesOf(data)]
  }

  async digest(): Promise<Uint8Array> {
    for (const piece of this.#pieces) {
      for (let at = 0; at < piece.length; at += sliceBytes) {
        if (at > 0) await setImmediate()
        this.#hash.update(piece.subarray(at, at + sliceBytes))
      }
    }
    return this.#hash.digest()
  }
}
