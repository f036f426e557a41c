import { readSync } from "node:fs"

const chunkBytes = 1024 * 1024
const wordBytes = 4

/** A byte string that contains a word, and the word's offset. */
interface WordPosition {
  readonly needle: Buffer
  readonly offset: number
}

/** Indexes the byte strings by their words at the first offsets. */
const placesOf = (needles: ReadonlyArray<Buffer>, words: number): ReadonlyMap<number, ReadonlyArray<WordPosition>> => {
  const places = new Map<number, Array<WordPosition>>()
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
 * Whether a file contains any of the byte strings (four bytes or more). Blocks its thread. `secure_delete` is not
 * enough: it misses copies of cells in the gaps of pages. Tests one word per stride, which every occurrence must cover.
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
    for (let index = 0; index + wordBytes <= end; index += stride) {
      const found = places.get(chunk.readInt32LE(index))
      if (found?.some(({ needle, offset }) => isAt(index - offset, end, needle)) === true) return true
    }
    if (end <= overlap) return false
    position += end - overlap
  }
}
