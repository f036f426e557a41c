import { crc32, inflateRawSync } from "node:zlib"
import { assert } from "vitest"

export interface Unzipped {
  readonly content: Buffer
  readonly mode: number
  readonly time: number
}

/** Reads the files of a zip archive from its directory, as hosts do, and checks each against its header and its sum. */
export const unzip = (archive: Buffer): ReadonlyMap<string, Unzipped> => {
  const end = archive.subarray(-22)
  assert.strictEqual(end.readUInt32LE(0), 0x06054b50)
  const files = new Map<string, Unzipped>()
  let place = end.readUInt32LE(16)
  for (let left = end.readUInt16LE(10); left > 0; left--) {
    const entry = archive.subarray(place)
    assert.strictEqual(entry.readUInt32LE(0), 0x02014b50)
    const nameEnd = 46 + entry.readUInt16LE(28)
    const name = entry.subarray(46, nameEnd).toString()
    const local = archive.subarray(entry.readUInt32LE(42))
    assert.deepStrictEqual(local.subarray(4, 30), entry.subarray(6, 32), name)
    const start = 30 + local.readUInt16LE(26)
    assert.strictEqual(local.subarray(30, start).toString(), name)
    const content = inflateRawSync(local.subarray(start, start + entry.readUInt32LE(20)))
    assert.deepStrictEqual([content.length, crc32(content)], [entry.readUInt32LE(24), entry.readUInt32LE(16)], name)
    files.set(name, { content, mode: entry.readUInt32LE(38) >>> 16, time: entry.readUInt32LE(12) })
    place += nameEnd + entry.readUInt16LE(30) + entry.readUInt16LE(32)
  }
  assert.strictEqual(place, archive.length - 22)
  return files
}
