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
 * SHA-256, or HMAC with a secret, with the interface of the AWS SDK. It yields to the event loop between slices, because hashing
 * a part of an upload at once would delay requests by milliseconds.
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
      for (let start = 0; start < piece.length; start += sliceBytes) {
        if (start > 0) await setImmediate()
        this.#hash.update(piece.subarray(start, start + sliceBytes))
      }
    }
    return this.#hash.digest()
  }
}
