import * as Brand from "effect/Brand"

/** The path of a file, a byte a character (latin1): names need not be UTF-8. */
export type FilePath = string & Brand.Brand<"FilePath">

export const FilePath = Brand.nominal<FilePath>()

export const pathOfBytes = (bytes: Uint8Array): FilePath => FilePath(Buffer.from(bytes).toString("latin1"))

export const pathOfText = (text: string): FilePath => pathOfBytes(Buffer.from(text))

export const bytesOf = (path: FilePath): Buffer => Buffer.from(path, "latin1")

/** A character of UTF-8, byte by byte; or a byte that is part of none. */
const utf8 = new RegExp(
  [
    "[\\x00-\\x7f]",
    "[\\xc2-\\xdf][\\x80-\\xbf]",
    "(?:\\xe0[\\xa0-\\xbf]|[\\xe1-\\xec\\xee\\xef][\\x80-\\xbf]|\\xed[\\x80-\\x9f])[\\x80-\\xbf]",
    "(?:\\xf0[\\x90-\\xbf]|[\\xf1-\\xf3][\\x80-\\xbf]|\\xf4[\\x80-\\x8f])[\\x80-\\xbf]{2}",
    "([\\x80-\\xff])"
  ].join("|"),
  "g"
)

/** The path for people. Bytes that are not UTF-8 are escapes, such as `\\xff`. */
export const shownPath = (path: FilePath): string =>
  path.replace(utf8, (character, stray?: string) =>
    stray === undefined ? Buffer.from(character, "latin1").toString("utf8") : `\\x${stray.charCodeAt(0).toString(16)}`
  )
