type Take = (chunk: Uint8Array) => void

const lineBreak = 0x0a

/**
 * Takes the output of `git cat-file --batch` in chunks: for each object a line with its kind and size, the content, and a line
 * break.
 */
export class Batch {
  private header = ""
  /** The bytes up to the end of the content, with its line break. */
  private left = 0
  private read: Take = () => {}

  /** @param open returns the consumer of the next object's content, or of a missing object. */
  constructor(private readonly open: (isThere: boolean) => Take) {}

  take(chunk: Uint8Array) {
    let rest = chunk
    while (rest.length > 0) rest = this.left > 0 ? this.takeContent(rest) : this.takeHeader(rest)
  }

  private takeContent(chunk: Uint8Array): Uint8Array {
    const part = chunk.subarray(0, this.left)
    this.left -= part.length
    this.read(this.left === 0 ? part.subarray(0, -1) : part)
    return chunk.subarray(part.length)
  }

  private takeHeader(chunk: Uint8Array): Uint8Array {
    const end = chunk.indexOf(lineBreak)
    this.header += Buffer.from(end < 0 ? chunk : chunk.subarray(0, end)).toString("latin1")
    if (end < 0) return chunk.subarray(chunk.length)
    const size = / blob ([0-9]+)$/.exec(this.header)?.[1]
    this.header = ""
    this.read = this.open(size !== undefined)
    this.left = size === undefined ? 0 : Number(size) + 1
    return chunk.subarray(end + 1)
  }
}
