import * as Schema from "effect/Schema"
import { ImportId } from "../base/Ids.js"
import { OrgName } from "../base/Names.js"
import { Organization } from "../directory/Organization.js"
import { createdAt, field, optional, Timestamp } from "../base/Schemas.js"
import { ArchiveCounts } from "./Manifest.js"

export const OrganizationImport = Schema.Struct({
  id: field(ImportId, "its id"),
  name: field(OrgName, "the name that the organization gets when the import is finished"),
  left_out: field(
    Schema.Array(Schema.String),
    "what this server cannot take over, and why: federations whose issuers it does not trust, and people in protections who are not members",
    []
  ),
  created_at: createdAt,
  expires_at: field(
    Timestamp,
    "until when it can be finished; the server then removes all of it",
    "2026-02-01T12:00:00.000Z"
  )
}).annotations({
  identifier: "OrganizationImport",
  description: "an organization that is being imported: invisible until it is complete"
})
export type OrganizationImport = typeof OrganizationImport.Type

export const ImportFinished = Schema.Struct({
  organization: field(Organization, "the organization, which is visible now"),
  counts: field(ArchiveCounts, "how many records it has; the members include the importer"),
  left_out: optional(
    Schema.Array(Schema.String),
    "the references that cannot be followed, because the secrets that they name were not in the archive, and the names in use rules that nobody has",
    []
  )
}).annotations({ identifier: "ImportFinished", description: "an organization that was imported and verified" })
export type ImportFinished = typeof ImportFinished.Type
