import * as Records from "effect/Record"
import * as Schema from "effect/Schema"
import { withMessage } from "../base/Message.js"
import { OrgName } from "../base/Names.js"
import { body, Count, field, optional } from "../base/Schemas.js"
import { ArchivedTime } from "./ArchivedOrganization.js"
import { archivedFields } from "./Fields.js"

/** The format of archives. A program reads the formats that it knows. */
export const archiveFormat = 1

const number = (what: string, example: number) => field(Count, `number of ${what}`, example)

/** The counts of records that can get lost on the way, because they come in several calls. */
const sentCounts = {
  projects: number("projects", 3),
  environments: number("environments", 6),
  secrets: number("secrets", 42),
  versions: number("versions of secrets, current and earlier ones, destroyed ones too", 42),
  use_rules: number("use rules", 2),
  declared: number("declared keys", 12)
}

const fieldCounts = Schema.Struct(
  Records.map(archivedFields, ({ example, of }, name) => number(of ?? `records with ${name}`, example))
).annotations({
  identifier: "ArchivedFieldCounts",
  description: "how many records have each field that records have only sometimes"
})

const fields = optional(fieldCounts, "how many records have each field; absent from archives of 0.3.0")

/** The counts that an import is verified by. */
export const SentCounts = body({ ...sentCounts, fields }).annotations({
  identifier: "SentCounts",
  description: "how many records of an archive were sent"
})
export type SentCounts = typeof SentCounts.Type

export const ArchiveCounts = Schema.Struct({
  ...sentCounts,
  members: number("members", 5),
  groups: number("groups", 2),
  accounts: number("service accounts", 4),
  rules: number("access rules", 9),
  webhooks: number("webhooks", 1),
  fields
}).annotations({ identifier: "ArchiveCounts", description: "how many records an archive or an organization has" })
export type ArchiveCounts = typeof ArchiveCounts.Type

const hashMessage = withMessage("must be 64 hexadecimal digits in lowercase")
const pathMessage = withMessage("must be the path of a file in the archive")

const ArchiveFile = body({
  path: field(
    Schema.String.pipe(
      Schema.pattern(
        /^(?:organization\.json|projects\/[a-z0-9-]{2,50}\/(?:declared|[a-z0-9-]{2,50}\/[1-9][0-9]{0,5})\.json)$/,
        pathMessage
      )
    ),
    "its path",
    "projects/webshop/prod/1.json"
  ),
  sha256: field(
    Schema.String.pipe(Schema.pattern(/^[0-9a-f]{64}$/, hashMessage)),
    "the SHA-256 of its bytes",
    "9f2c4e6a8b0d1f3e5a7c9b1d3f5e7a9c0b2d4f6e8a1c3b5d7f9e0a2c4b6d8f1e"
  )
})

/** The file `coffer.json` of an archive, its last one: it closes over all others. */
export const ArchiveManifest = body({
  format: field(Schema.Literal(archiveFormat), "the format of the archive", archiveFormat),
  server: field(Schema.String, "the version of the server that it comes from", "0.3.0"),
  organization: field(OrgName, "the organization's name"),
  created_at: field(ArchivedTime, "when the export was made"),
  created_by: field(Schema.String, "who made it: an e-mail", "ada@example.com"),
  versions: field(Schema.Boolean, "whether it has earlier versions", false),
  counts: field(ArchiveCounts, "how many records it has"),
  files: field(Schema.Array(ArchiveFile), "all other files")
}).annotations({ identifier: "ArchiveManifest", description: "what an archive holds" })
export type ArchiveManifest = typeof ArchiveManifest.Type
