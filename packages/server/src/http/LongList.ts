import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Schema from "effect/Schema"
import { mapInSlices } from "../base/EventLoop.js"

/** A record with fields in their encoded form; a field may also be redacted. */
type Sendable<Fields extends Schema.Struct.Fields> = {
  readonly [Name in keyof Schema.Struct.Encoded<Fields>]:
    Schema.Struct.Encoded<Fields>[Name] | Redacted.Redacted<Schema.Struct.Encoded<Fields>[Name]>
}

const noRecords = '"data":[]'
const comma = Buffer.from(",")

/** Sends parts that were encoded in slices, with commas between them. */
const response = (before: string, chunks: ReadonlyArray<Buffer>, after: string) => {
  const pieces = chunks.flatMap((chunk, index) => (index === 0 ? [chunk] : [comma, chunk]))
  const bytes = Buffer.concat([Buffer.from(before), ...pieces, Buffer.from(after)])
  return HttpServerResponse.uint8Array(bytes, { contentType: "application/json" })
}

/**
 * Encodes a response `{"data":[…]}` in slices, so that a long list does not block the event loop. Only the schema's fields are
 * sent. The compiler checks the records, because encoding by the schema takes seven times as long.
 */
export const longList = <Fields extends Schema.Struct.Fields>(record: Schema.Struct<Fields>, recordsAtOnce = 25) => {
  const names = Object.keys(record.fields)
  const sent = (fields: Readonly<Record<string, unknown>>): object => {
    const chosen: Record<string, unknown> = {}
    for (const name of names) {
      const field = fields[name]
      chosen[name] = Redacted.isRedacted(field) ? Redacted.value(field) : field
    }
    return chosen
  }
  const encode = (items: ReadonlyArray<Sendable<Fields>>) => Buffer.from(JSON.stringify(items.map(sent)).slice(1, -1))

  return (answer: {
    readonly data: ReadonlyArray<Sendable<Fields>>
  }): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
    Effect.map(mapInSlices(Array.chunksOf(answer.data, recordsAtOnce), encode), (chunks) => {
      const [before = "", after = ""] = JSON.stringify({ ...answer, data: [] }).split(noRecords)
      return response(`${before}"data":[`, chunks, `]${after}`)
    })
}

/** Encodes a response of names and redacted texts in slices, as `longList` does with records, between two texts. */
export const longObject = (
  entries: ReadonlyArray<readonly [string, Redacted.Redacted]>,
  [before, after]: readonly [string, string] = ["", ""],
  entriesAtOnce = 25
): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
  Effect.map(
    mapInSlices(Array.chunksOf(entries, entriesAtOnce), (some) =>
      Buffer.from(some.map(([name, text]) => `${JSON.stringify(name)}:${JSON.stringify(Redacted.value(text))}`).join())
    ),
    (chunks) => response(`${before}{`, chunks, `}${after}`)
  )

/** Encodes named lists of an object in slices, as `longList` does with records, between two texts. */
export const longLists = (
  lists: Readonly<Record<string, ReadonlyArray<unknown>>>,
  [before, after]: readonly [string, string],
  recordsAtOnce = 25
): Effect.Effect<HttpServerResponse.HttpServerResponse> =>
  Effect.map(
    Effect.forEach(Object.entries(lists), ([name, items]) =>
      Effect.map(
        mapInSlices(Array.chunksOf(items, recordsAtOnce), (some) => Buffer.from(JSON.stringify(some).slice(1, -1))),
        (chunks) =>
          Buffer.concat([
            Buffer.from(`${JSON.stringify(name)}:[`),
            ...chunks.flatMap((chunk, index) => (index === 0 ? [chunk] : [comma, chunk])),
            Buffer.from("]")
          ])
      )
    ),
    (chunks) => response(before, chunks, after)
  )

/** Sends records that were encoded before as `{"data":[…]}` between two texts. */
export const encodedList = (records: ReadonlyArray<Buffer>, [before, after]: readonly [string, string]) =>
  response(`${before}"data":[`, records, `]${after}`)
