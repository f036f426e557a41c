/** A zip archive with the same bytes for the same files: sorted entries, one time for all, two modes. */
import { crc32, deflateRawSync } from "node:zlib"

/** Numbers of a record by their sizes in bytes, little-endian. */
const record = (...fields) =>
  Buffer.concat(
    fields.map(([size, value]) => {
      const bytes = Buffer.alloc(size)
      bytes.writeUIntLE(value, 0, size)
      return bytes
    })
  )

/** The date and the time of MS-DOS, in UTC. They begin with 1980. */
const stampOf = (time) => {
  const date = new Date(Math.max(time, Date.UTC(1980) / 1000) * 1000)
  const clock = (date.getUTCHours() << 11) | (date.getUTCMinutes() << 5) | (date.getUTCSeconds() >> 1)
  const day = ((date.getUTCFullYear() - 1980) << 9) | ((date.getUTCMonth() + 1) << 5) | date.getUTCDate()
  return clock + day * 0x10000
}

/**
 * Returns a zip archive.
 *
 * @param files the content by path: a text, bytes, or `{ content, executable }`
 * @param time the seconds since 1970 that all entries bear
 */
export const zip = (files, time) => {
  const entries = Object.entries(files).sort(([a], [b]) => (a < b ? -1 : 1))
  const local = []
  const central = []
  let offset = 0
  for (const [path, file] of entries) {
    const name = Buffer.from(path)
    const content = Buffer.from(file.content ?? file)
    const packed = deflateRawSync(content, { level: 9, memLevel: 9 })
    // Version 2.0, names in UTF-8, deflated.
    const common = [
      ...[
        [2, 20],
        [2, 0x0800],
        [2, 8],
        [4, stampOf(time)],
        [4, crc32(content)]
      ],
      ...[
        [4, packed.length],
        [4, content.length],
        [2, name.length],
        [2, 0]
      ]
    ]
    const header = Buffer.concat([record([4, 0x04034b50], ...common), name])
    // Made on Unix, so that the mode counts.
    const mode = file.executable === true ? 0o100755 : 0o100644
    const place = [
      [2, 0],
      [2, 0],
      [2, 0],
      [4, mode * 0x10000],
      [4, offset]
    ]
    central.push(record([4, 0x02014b50], [2, 0x0314], ...common, ...place), name)
    local.push(header, packed)
    offset += header.length + packed.length
  }
  const directory = Buffer.concat(central)
  const counts = [
    [2, 0],
    [2, 0],
    [2, entries.length],
    [2, entries.length]
  ]
  const end = record([4, 0x06054b50], ...counts, [4, directory.length], [4, offset], [2, 0])
  return Buffer.concat([...local, directory, end])
}
