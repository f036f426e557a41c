import { Either } from "effect"
import { type Entry, type Format, type Pair, Unreadable } from "./Format.js"

/** Docker reads a file with Go's bufio.Scanner, whose lines are shorter than this. */
const maxLine = 65_536

const refusal = ({ key, value }: Pair) => {
  if (value.includes("\n")) return "has a value of several lines"
  if (value.endsWith("\r")) return "has a value that ends with a carriage return"
  if (value.includes("\0")) return "has a value with a NUL byte, which no environment variable can hold"
  if (Buffer.byteLength(`${key}=${value}\r\n`) >= maxLine) return "makes a line that is too long for Docker"
  return undefined
}

const read = (text: string): Either.Either<ReadonlyArray<Entry>, Unreadable> => {
  const entries: Array<Entry> = []
  for (const [index, raw] of text.split("\n").entries()) {
    const line = index + 1
    const content = raw.replace(/\r$/, "").trimStart()
    if (content === "" || content.startsWith("#")) continue
    const equals = content.indexOf("=")
    if (equals < 0) {
      return Either.left(
        new Unreadable({ line, problem: "is not KEY=value; coffer takes no value from the environment" })
      )
    }
    entries.push({ key: content.slice(0, equals), value: content.slice(equals + 1), line })
  }
  return Either.right(entries)
}

/** The lines of Docker's `--env-file`: what is behind the first = is the value, as it is. */
export const docker: Format = {
  refusal,
  write: (pairs) => pairs.map(({ key, value }) => `${key}=${value}\n`).join(""),
  read
}
