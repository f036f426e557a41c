/**
 * Archives with the same bytes for the same files: sorted entries, one time for all, owner 0 and two modes. Written here,
 * because npm and the versions of tar differ in such details.
 */
import { extname } from "node:path"
import { gzipSync } from "node:zlib"

const block = 512

const octal = (value, length) => `${value.toString(8).padStart(length - 1, "0")}\0`

/** One header of the ustar format. */
const headerOf = ({ link, mode, path, size }, time) => {
  if (Buffer.byteLength(path) > 100) throw new Error(`${path} is too long for an entry of an archive`)
  const header = Buffer.alloc(block)
  header.write(path, 0)
  header.write(octal(mode, 8), 100)
  header.write(octal(0, 8), 108)
  header.write(octal(0, 8), 116)
  header.write(octal(size, 12), 124)
  header.write(octal(time, 12), 136)
  header.write(" ".repeat(8), 148)
  header.write(link === undefined ? "0" : "2", 156)
  header.write(link ?? "", 157)
  header.write("ustar\0" + "00", 257)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${octal(sum, 7)} `, 148)
  return header
}

/** Files of a kind are next to each other: that packs a fortieth smaller. */
const orderOf = (path) => `${extname(path)} ${path}`

const padding = (size) => Buffer.alloc((block - (size % block)) % block)

/**
 * Returns a gzipped tar archive.
 *
 * @param files the content by path: a text, bytes, `{ content, executable }`, or `{ symlink }` for a symbolic link
 * @param time the seconds since 1970 that all entries bear
 */
export const archive = (files, time) => {
  const pieces = Object.entries(files)
    .sort(([a], [b]) => (orderOf(a) < orderOf(b) ? -1 : 1))
    .flatMap(([path, file]) => {
      if (file.symlink !== undefined) return [headerOf({ path, link: file.symlink, mode: 0o777, size: 0 }, time)]
      const content = Buffer.from(file.content ?? file)
      const mode = file.executable === true ? 0o755 : 0o644
      return [headerOf({ path, mode, size: content.length }, time), content, padding(content.length)]
    })
  return gzipSync(Buffer.concat([...pieces, Buffer.alloc(2 * block)]), { level: 9, memLevel: 9 })
}

/** The same paths below a folder. */
export const below = (folder, files) =>
  Object.fromEntries(Object.entries(files).map(([path, file]) => [`${folder}/${path}`, file]))
