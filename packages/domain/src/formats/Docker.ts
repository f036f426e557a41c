import type * as Either from "effect/Either"
import { byteLength } from "../secrets/SecretValueForm.js"
import { type Entry, Findings, type Format, type Pair, type Unreadable } from "./Format.js"

/** Docker reads a file with Go's bufio.Scanner, whose lines are shorter than this. */
const maxLine = 65_536

const refusal = ({ key, value }: Pair) => {
  if (value.includes("\n")) return "has a value of several lines"
  if (value.endsWith("\r")) return "has a value that ends with a carriage return"
  if (value.includes("\0")) return "has a value with a NUL byte, which no environment variable can hold"
  if (byteLength(`${key}=${value}\r\n`) >= maxLine) return "makes a line that is too long for Docker"
  return undefined
}

const read = (text: string): Either.Either<ReadonlyArray<Entry>, Unreadable> => {
  const found = new Findings()
  let line = 0
  for (let start = 0; start < text.length && !found.isStopped();) {
    const end = text.indexOf("\n", start)
    const raw = text.slice(start, end < 0 ? undefined : end)
    start = end < 0 ? text.length : end + 1
    line++
    const content = raw.replace(/\r$/, "").trimStart()
    if (content === "" || content.startsWith("#")) continue
    const equals = content.indexOf("=")
    if (equals < 0) {
      found.refuse(line, "is not KEY=value; coffer takes no value from the environment")
      continue
    }
    found.add({ key: content.slice(0, equals), value: content.slice(equals + 1), line })
  }
  return found.result
}

/** The lines of Docker's `--env-file`: the text after the first = is the value, unchanged. */
export const docker: Format = {
  head: "# For docker run --env-file. A shell that sources this file would run commands in values: use --format shell.\n",
  refusal,
  write: (pairs) => pairs.map(({ key, value }) => `${key}=${value}\n`).join(""),
  read
}
