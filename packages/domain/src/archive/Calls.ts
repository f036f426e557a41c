/** How the parts of an archive fit into calls: without schemas, for clients. */
import type * as Schema from "effect/Schema"
import type { ArchivedOrganization } from "./ArchivedOrganization.js"

/** The most records of a call: what is decoded in one piece. */
export const maxRecordsAtOnce = 200

/** Below the limits of a server, 16 MiB and 5,000 values in a large body. */
const maxBytes = 8 * 1024 * 1024
const maxValues = 4_000

/** A structure as a call takes it: lines of JSON, each an object with one record of a list, or with another field. */
export const structureLines = (organization: Schema.Schema.Encoded<typeof ArchivedOrganization>): string =>
  Object.entries(organization)
    .flatMap(([name, field]): ReadonlyArray<unknown> => {
      const found: unknown = field
      return Array.isArray(found) ? found.map((record: unknown) => ({ [name]: record })) : [{ [name]: found }]
    })
    .map((line) => JSON.stringify(line))
    .join("\n")

const encoder = new TextEncoder()

/** Cuts the records of a file into calls, in their order. */
export const recordsOfCalls = <A>(records: Iterable<A>): ReadonlyArray<ReadonlyArray<A>> => {
  const calls: Array<Array<A>> = []
  let [bytes, values] = [0, 0]
  for (const record of records) {
    const json = JSON.stringify(record)
    const more = { bytes: encoder.encode(json).length, values: json.split(",").length }
    const last = calls.at(-1)
    const fits = bytes + more.bytes <= maxBytes && values + more.values <= maxValues
    if (last !== undefined && last.length < maxRecordsAtOnce && fits) {
      last.push(record)
      bytes += more.bytes
      values += more.values
    } else {
      calls.push([record])
      bytes = more.bytes
      values = more.values
    }
  }
  return calls
}
