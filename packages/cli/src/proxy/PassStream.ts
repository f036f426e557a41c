import { parseJson } from "@coffer/client/internal/ParseJson"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type { IncomingMessage, ServerResponse } from "node:http"
import { type Passed, refusal } from "./Passed.js"

/** A stream that is passed on to the program. */
export interface Streamed {
  /** The refusal of a stream that has not begun. Undefined once the program has its response. */
  readonly refusal: () => Passed | undefined
}

const textAt = (record: unknown, name: string): string | undefined =>
  Predicate.hasProperty(record, name) && typeof record[name] === "string" ? record[name] : undefined

const headersAt = (record: object): Readonly<Record<string, string>> =>
  Predicate.hasProperty(record, "headers") && Predicate.isRecord(record.headers)
    ? Object.fromEntries(
        Object.entries(record.headers).flatMap(([name, text]) => (typeof text === "string" ? [[name, text]] : []))
      )
    : {}

const isCut = (record: object): boolean =>
  Predicate.hasProperty(record, "end") &&
  Predicate.hasProperty(record.end, "truncated") &&
  record.end.truncated === true

/** Passes the lines of a streamed use on as the response that they describe. The program's own pace holds them back. */
export const passStream = (source: IncomingMessage, response: ServerResponse): Streamed => {
  let rest = ""
  let early: Passed | undefined
  let hasEnded = false

  const onRecord = (record: object): void => {
    const part = textAt(record, "base64")
    if (part !== undefined) {
      if (response.write(Buffer.from(part, "base64"))) return
      source.pause()
      response.once("drain", () => source.resume())
    } else if (Predicate.hasProperty(record, "status") && typeof record.status === "number") {
      response.writeHead(record.status, headersAt(record))
      response.flushHeaders()
    } else if (Predicate.hasProperty(record, "error")) {
      hasEnded = true
      const { error } = record
      if (response.headersSent) response.destroy()
      else early = refusal(502, textAt(error, "code") ?? "PROXY_FAILED", textAt(error, "message") ?? "no response")
    } else if (Predicate.hasProperty(record, "end")) {
      hasEnded = true
      // A program must not take a part for the whole.
      if (isCut(record)) response.destroy()
      else response.end()
    }
  }

  source.setEncoding("utf8")
  source.on("data", (chunk: string) => {
    const lines = `${rest}${chunk}`.split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) {
      const record = Option.getOrUndefined(parseJson(line))
      if (Predicate.isRecord(record)) onRecord(record)
    }
  })
  return {
    refusal: () => {
      if (hasEnded) return early
      if (!response.headersSent) return refusal(502, "PROXY_FAILED", "the Coffer server ended the stream too early")
      response.destroy()
      return undefined
    }
  }
}
