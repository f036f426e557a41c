import * as Either from "effect/Either"

const maxDepth = 32

/** No endpoint accepts a body with more values. */
const maxValues = 5_000

const utf8 = new TextDecoder("utf-8", { fatal: true })

const isWithinDepth = (value: unknown, depth: number): boolean =>
  typeof value !== "object" ||
  value === null ||
  (depth > 0 && Object.values(value).every((item) => isWithinDepth(item, depth - 1)))

/** Whether any string contains a lone surrogate, which a JSON escape can express but UTF-8 cannot. */
const hasLoneSurrogate = (value: unknown): boolean =>
  typeof value === "string"
    ? /\p{Surrogate}/u.test(value)
    : typeof value === "object" &&
      value !== null &&
      Object.entries(value).some(([key, item]) => hasLoneSurrogate(key) || hasLoneSurrogate(item))

const tooDeep = `is nested deeper than ${maxDepth} levels`

/** Parses JSON in UTF-8. Left is the reason; it does not repeat any of the input. */
export const parseJson = (bytes: Uint8Array): Either.Either<unknown, string> => {
  const text = Either.try({ try: () => utf8.decode(bytes), catch: () => "is not UTF-8" })
  if (Either.isLeft(text)) return text
  const value = Either.try({
    try: (): unknown => JSON.parse(text.right),
    // The parser's message would repeat a part of the body.
    catch: () => "is not well-formed JSON"
  })
  if (Either.isLeft(value)) return value
  if (!isWithinDepth(value.right, maxDepth)) return Either.left(tooDeep)
  return /\\u[dD][89a-fA-F]/.test(text.right) && hasLoneSurrogate(value.right)
    ? Either.left("holds a lone surrogate, which is no text")
    : value
}

const [quote, backslash, comma, openBracket, closeBracket, openBrace, closeBrace, lineFeed = 10] =
  Buffer.from('"\\,[]{}\n')

/** Returns the problem with a text that has too many values or levels; null if there is none. */
const excessOf = (bytes: Uint8Array, most: number, tooMany: string): string | null => {
  let commas = 0
  let depth = 0
  let inString = false
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index]
    if (inString) {
      if (byte === backslash) index++
      else if (byte === quote) inString = false
    } else if (byte === quote) inString = true
    else if (byte === comma) {
      if (++commas >= most) return tooMany
    } else if (byte === openBracket || byte === openBrace) {
      if (++depth > maxDepth) return tooDeep
    } else if (byte === closeBracket || byte === closeBrace) depth--
  }
  return null
}

const tooManyValues = `holds more than ${maxValues} values, and no call takes as many`

/** As `parseJson`, but rejects a text with too many values or levels before it is parsed. */
export const parseLargeJson = (bytes: Uint8Array): Either.Either<unknown, string> => {
  const excess = excessOf(bytes, maxValues, tooManyValues)
  return excess === null ? parseJson(bytes) : Either.left(excess)
}

/** A project of 100 environments, each with a protection that names 200 people, has fewer. */
const maxValuesOfLines = 25_000

const tooManyOfLines = `holds more than ${maxValuesOfLines} values, and no record has as many`

/** Parses lines of JSON, each as `parseLargeJson` does. */
export const parseJsonLines = (bytes: Uint8Array): Either.Either<ReadonlyArray<unknown>, string> => {
  const excess = excessOf(bytes, maxValuesOfLines, tooManyOfLines)
  if (excess !== null) return Either.left(excess)
  const values: Array<unknown> = []
  for (let at = 0; at < bytes.length;) {
    const end = bytes.indexOf(lineFeed, at)
    const value = parseJson(bytes.subarray(at, end < 0 ? bytes.length : end))
    if (Either.isLeft(value)) return Either.left(value.left)
    values.push(value.right)
    at = end < 0 ? bytes.length : end + 1
  }
  return Either.right(values)
}
