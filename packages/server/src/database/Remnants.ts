import { Effect } from "effect"
import { createReadStream } from "node:fs"

const chunkBytes = 1024 * 1024

/**
 * Whether any of some byte strings stands anywhere in a file. The file is streamed: other work goes on meanwhile.
 *
 * SQLite's `secure_delete` overwrites what it frees, but not the copies of cells that moving them between pages can leave in
 * a page's gap: erased for good means that someone has looked.
 */
export const holdsAny = (path: string, needles: ReadonlyArray<Uint8Array>): Effect.Effect<boolean> =>
  Effect.promise(async () => {
    const wanted = needles.filter(({ length }) => length > 0).map((needle) => Buffer.from(needle))
    const longest = Math.max(0, ...wanted.map(({ length }) => length))
    let tail: Buffer = Buffer.alloc(0)
    for await (const chunk of createReadStream(path, { highWaterMark: chunkBytes })) {
      const window = Buffer.concat([tail, chunk])
      if (wanted.some((needle) => window.includes(needle))) return true
      tail = window.subarray(Math.max(0, window.length - longest + 1))
    }
    return false
  })
