import { readSync } from "node:fs"

const chunkBytes = 1024 * 1024
const wordBytes = 4

/** A byte string that contains a word, and where in it. */
interface Place {
  readonly needle: Buffer
  readonly offset: number
}

/** The byte strings by each of their first words. */
const placesOf = (needles: ReadonlyArray<Buffer>, words: number): ReadonlyMap<number, ReadonlyArray<Place>> => {
  const places = new Map<number, Array<Place>>()
  for (const needle of needles) {
    for (let offset = 0; offset < words; offset++) {
      const word = needle.readInt32LE(offset)
      const found = places.get(word)
      if (found === undefined) places.set(word, [{ needle, offset }])
      else found.push({ needle, offset })
    }
  }
  return places
}

/**
 * Whether any of some byte strings (of four bytes or more) stands anywhere in a file, which is read once for all of them. Not
 * every byte is looked at: with the words of a byte string known, one word in each stretch of its length is enough. Blocks its
 * thread.
 *
 * SQLite's `secure_delete` overwrites what it frees, but not the copies of cells that moving them between pages can leave in
 * a page's gap: erased for good means that the file was searched.
 */
export const holdsAny = (file: number, needles: ReadonlyArray<Uint8Array>): boolean => {
  if (needles.length === 0) return false
  const wanted = needles.map((needle) => Buffer.from(needle))
  const stride = Math.min(...wanted.map(({ length }) => length)) - wordBytes + 1
  const overlap = Math.max(...wanted.map(({ length }) => length)) - 1
  const places = placesOf(wanted, stride)
  const chunk = Buffer.alloc(chunkBytes + overlap)
  const isAt = (start: number, end: number, needle: Buffer): boolean =>
    start >= 0 && start + needle.length <= end && chunk.subarray(start, start + needle.length).equals(needle)

  for (let position = 0; ;) {
    const end = readSync(file, chunk, 0, chunk.length, position)
    for (let at = 0; at + wordBytes <= end; at += stride) {
      const found = places.get(chunk.readInt32LE(at))
      if (found?.some(({ needle, offset }) => isAt(at - offset, end, needle)) === true) return true
    }
    if (end <= overlap) return false
    position += end - overlap
  }
}
