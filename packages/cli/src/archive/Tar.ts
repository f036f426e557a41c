/** Tar archives of plain files, in the ustar format of POSIX: what `tar -x` of every system reads. */
import * as Either from "effect/Either"

export interface TarFile {
  /** ASCII. What stands after its last slash has at most 100 characters, what stands before at most 155. */
  readonly name: string
  readonly content: Buffer
}

const blockSize = 512
const longestName = 100
const plainFile = "0"
const magic = "ustar\x0000"

/** The fields of a header that are used, by the offsets of their ends. */
const field = {
  name: [0, 100],
  mode: [100, 108],
  owner: [108, 116],
  group: [116, 124],
  size: [124, 136],
  time: [136, 148],
  checksum: [148, 156],
  type: [156, 157],
  magic: [257, 265],
  prefix: [345, 500]
} as const

type Field = keyof typeof field

/** The sum of the bytes of a header, in which the checksum itself counts as spaces. */
const checksumOf = (header: Buffer): number => {
  const [from, to] = field.checksum
  return header.reduce((sum, byte, offset) => sum + (offset >= from && offset < to ? 0x20 : byte), 0)
}

const padding = (size: number): number => (blockSize - (size % blockSize)) % blockSize

const headerOf = ({ content, name }: TarFile, seconds: number): Buffer => {
  const header = Buffer.alloc(blockSize)
  const put = (at: Field, text: string) => header.write(text, field[at][0], "latin1")
  const number = (at: Field, value: number) => put(at, value.toString(8).padStart(field[at][1] - field[at][0] - 1, "0"))
  const slash = name.length > longestName ? name.lastIndexOf("/") : -1
  put("name", name.slice(slash + 1))
  if (slash >= 0) put("prefix", name.slice(0, slash))
  number("mode", 0o600)
  number("owner", 0)
  number("group", 0)
  number("size", content.length)
  number("time", seconds)
  put("type", plainFile)
  put("magic", magic)
  put("checksum", `${checksumOf(header).toString(8).padStart(6, "0")}\0 `)
  return header
}

/**
 * The parts of an archive with these files.
 *
 * @param seconds the time of all files, in seconds since 1970.
 */
export const tarOf = (files: ReadonlyArray<TarFile>, seconds: number): ReadonlyArray<Buffer> => [
  ...files.flatMap((file) => [headerOf(file, seconds), file.content, Buffer.alloc(padding(file.content.length))]),
  Buffer.alloc(2 * blockSize)
]

const isZero = (bytes: Buffer): boolean => bytes.every((byte) => byte === 0)

/** The size and the name that a header gives; what is wrong with it, in a sentence's end. */
const readHeader = (header: Buffer): Either.Either<{ readonly name: string; readonly size: number }, string> => {
  const get = (at: Field) => header.toString("latin1", ...field[at])
  const text = (at: Field) => get(at).replace(/\0.*$/s, "")
  const number = (at: Field) => {
    const digits = /^([0-7]+)[\0 ]*$/.exec(get(at))?.[1]
    return digits === undefined ? NaN : Number.parseInt(digits, 8)
  }
  if (number("checksum") !== checksumOf(header)) return Either.left("has a damaged header of a file")
  const prefix = text("prefix")
  const name = prefix === "" ? text("name") : `${prefix}/${text("name")}`
  const size = number("size")
  if (get("magic") !== magic || get("type") !== plainFile || Number.isNaN(size)) {
    return Either.left(`holds ${name}, which is no plain file in the ustar format`)
  }
  return Either.right({ name, size })
}

/**
 * Reads the files of an archive, without copying their contents. Fails with the end of a sentence about whatever is not
 * exactly an archive of plain files.
 */
export const readTar = (bytes: Buffer): Either.Either<ReadonlyArray<TarFile>, string> => {
  const files = new Map<string, TarFile>()
  for (let offset = 0; ;) {
    const header = bytes.subarray(offset, offset + blockSize)
    if (header.length === blockSize && isZero(header)) {
      const rest = bytes.subarray(offset)
      return rest.length >= 2 * blockSize && isZero(rest)
        ? Either.right([...files.values()])
        : Either.left("does not end as an archive does")
    }
    const read = header.length === blockSize ? readHeader(header) : Either.left("ends too early")
    if (Either.isLeft(read)) return Either.left(read.left)
    const { name, size } = read.right
    if (files.has(name)) return Either.left(`holds ${name} twice`)
    const start = offset + blockSize
    const content = bytes.subarray(start, start + size)
    offset = start + size + padding(size)
    if (offset > bytes.length) return Either.left("ends too early")
    if (!isZero(bytes.subarray(start + size, offset))) return Either.left(`holds more than ${name} in its place`)
    files.set(name, { name, content })
  }
}
