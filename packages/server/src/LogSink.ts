import type { Writable } from "node:stream"

/** How many characters may wait for a reader of the log that is slow. */
const maxWaiting = 256 * 1024

/**
 * Writes lines to a stream whose reader may be slow or gone. What one turn of the event loop logs goes out together, because
 * a system call for each line costs as much as the rest of it. Lines that the reader does not take in time, or at all, are
 * dropped and counted; when it takes lines again, `report` tells it how many are missing.
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
      if (stream.writableLength + pending.length > maxWaiting) {
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
    /** Says how the number of missing lines is written. */
    reportBy: (write: (lines: number) => string): void => {
      report = write
    }
  }
}

/** The log's, on standard error. A reader that goes away does not end the server. */
export const standardError = makeLogSink(process.stderr)
process.stderr.on("error", () => undefined)
process.on("exit", standardError.flush)
