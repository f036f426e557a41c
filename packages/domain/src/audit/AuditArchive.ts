import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { AuditEntry } from "./AuditEntry.js"

/** The format of an archive of an audit log: lines of JSON, compressed by gzip. */
export const archiveFormat = "coffer/audit-archive/1"

const text = Schema.NullOr(Schema.String)

/** The first line: a closed range of one log, and the link of the entry before it. */
export const ArchiveHeader = Schema.Struct({
  format: Schema.Literal(archiveFormat),
  id: Schema.String,
  log: Schema.String,
  first_seq: Schema.Int,
  last_seq: Schema.Int,
  previous: Schema.String
})
export type ArchiveHeader = typeof ArchiveHeader.Type

/** A line for each entry, in order. `metadata` is the text that the chain authenticates. */
export const ArchivedEntry = Schema.Struct({
  id: Schema.String,
  seq: Schema.Int,
  org_id: text,
  actor_type: Schema.String,
  actor_id: text,
  actor_name: Schema.String,
  action: Schema.String,
  resource_type: Schema.String,
  resource_id: text,
  ip_address: text,
  metadata: Schema.String,
  created_at: Schema.String,
  chain: Schema.String
})
export type ArchivedEntry = typeof ArchivedEntry.Type

/** The last line. `mac` authenticates all lines before it under the key of the server's audit chains. */
export const ArchiveTrailer = Schema.Struct({ entries: Schema.Int, chain: Schema.String, mac: Schema.String })
export type ArchiveTrailer = typeof ArchiveTrailer.Type

const decodeMetadata = Schema.decodeUnknown(Schema.parseJson())
const decodeRecord = Schema.decodeUnknown(AuditEntry)

export const HeaderLine = Schema.parseJson(ArchiveHeader)
export const EntryLine = Schema.parseJson(ArchivedEntry)
export const TrailerLine = Schema.parseJson(ArchiveTrailer)

/** The API's record of an archived entry. */
export const recordOf = ({ chain: _chain, metadata, ...entry }: ArchivedEntry) =>
  Effect.flatMap(decodeMetadata(metadata), (decoded) => decodeRecord({ ...entry, metadata: decoded }))
