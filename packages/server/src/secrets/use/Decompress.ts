import * as Effect from "effect/Effect"
import { createBrotliDecompress, createGunzip, createInflate, constants } from "node:zlib"

const flushing = { finishFlush: constants.Z_SYNC_FLUSH }

/** Made so that they take a response that was cut. */
const decompressors = {
  gzip: () => createGunzip(flushing),
  "x-gzip": () => createGunzip(flushing),
  deflate: () => createInflate(flushing),
  br: () => createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH })
} as const

const isKnown = (name: string): name is keyof typeof decompressors => Object.hasOwn(decompressors, name)

const collect = async (bytes: Uint8Array, name: keyof typeof decompressors, maxBytes: number) => {
  const stream = decompressors[name]()
  stream.end(bytes)
  const chunks: Array<Uint8Array> = []
  let left = maxBytes
  for await (const chunk of stream) {
    if (!(chunk instanceof Uint8Array)) continue
    chunks.push(chunk.subarray(0, left))
    if (chunk.length > left) return { body: Buffer.concat(chunks), truncated: true }
    left -= chunk.length
  }
  return { body: Buffer.concat(chunks), truncated: false }
}

export interface Body {
  readonly body: Uint8Array
  readonly truncated: boolean
}

/** Undoes the encoding of a response. Fails for several encodings, for unknown ones and for bytes that are not of theirs. */
export const decompressed = (response: Body, encoding: string, maxBytes: number): Effect.Effect<Body, "encoding"> => {
  const name = encoding.trim().toLowerCase()
  if (name === "" || name === "identity" || response.body.length === 0) return Effect.succeed(response)
  if (!isKnown(name)) return Effect.fail("encoding")
  return Effect.map(
    Effect.tryPromise({
      try: () => collect(response.body, name, maxBytes),
      catch: () => "encoding" as const
    }),
    ({ body, truncated }) => ({ body, truncated: truncated || response.truncated })
  )
}
