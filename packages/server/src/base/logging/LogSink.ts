import type { Writable } from "node:stream"

/** How many characters are buffered for a slow reader. */
const maxBuffered = 256 * 1024

/**
 * Writes lines to a stream whose reader may be slow or gone. The lines of one event-loop tick are written together, because a
 * system call for each would double the cost. Lines over the buffer are dropped and counted, and `report` writes their number
 * once the reader catches up.
 */
export const makeLogSink = (stream: Writable) => {
  let pending = ""
  let lines = 0
  let dropped = 0
  let reported = 0
  let report: (lines: number) => string = () => ""

  const flush = (): void => {
    if (pending === "") return
    const [text, count, missing] = [pending, lines, dropped - reported]
    pending = ""
    lines = 0
    reported = dropped
    stream.write(missing > 0 ? `${report(missing)}\n${text}` : text, (error) => {
      if (error === null || error === undefined) return
      dropped += count
      reported -= missing
    })
  }

  return {
    write: (line: string): void => {
      if (stream.writableLength + pending.length > maxBuffered) {
        dropped++
        return
      }
      if (pending === "") setImmediate(flush)
      pending += `${line}\n`
      lines++
    },
    flush,
    /** How many lines were dropped since the start. */
    dropped: (): number => dropped,
    /** Sets the format of the line that reports dropped lines. */
    reportBy: (write: (lines: number) => string): void => {
      report = write
    }
  }
}

/** Without the error listener, a reader that closes the pipe would end the process. */
export const standardError = makeLogSink(process.stderr)
process.stderr.on("error", () => undefined)
process.on("exit", standardError.flush)
