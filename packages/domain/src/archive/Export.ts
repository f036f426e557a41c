import * as Schema from "effect/Schema"
import { ExportId } from "../base/Ids.js"
import { withMessage } from "../base/Message.js"
import { OrgName } from "../base/Names.js"
import { Count, createdAt, extensibleEnum, field, list, optional, Timestamp } from "../base/Schemas.js"
import { ArchivedOrganization } from "./ArchivedOrganization.js"
import { ArchivedVersion } from "./ArchivedSecret.js"
import { ArchiveCounts } from "./Manifest.js"

export const exportStates = ["waiting", "ready"] as const
export type ExportState = (typeof exportStates)[number]

export const OrganizationExport = Schema.Struct({
  id: field(ExportId, "its id"),
  state: field(
    extensibleEnum("ExportState", "whether an export can be read", exportStates),
    "`waiting`: another owner has to approve it, because an environment is protected; `ready`: it can be read",
    "ready"
  ),
  versions: field(Schema.Boolean, "whether the values of earlier versions are exported too", false),
  created_by: field(Schema.String, "the e-mail of whoever made it, who alone may read it", "ada@example.com"),
  approved_by: optional(Schema.String, "the e-mail of whoever approved it; absent: nobody", "grace@example.com"),
  created_at: createdAt,
  expires_at: field(Timestamp, "time when it ends", "2026-01-31T13:00:00.000Z")
}).annotations({
  identifier: "OrganizationExport",
  description: "the permission to take an organization out, for an hour"
})
export type OrganizationExport = typeof OrganizationExport.Type

/** The counts and the structure of an exported organization, in one snapshot. */
export const ExportedStructure = Schema.Struct({
  name: field(OrgName, "the organization's name"),
  server: field(Schema.String, "the version of the server", "0.3.0"),
  counts: field(ArchiveCounts, "how many records the organization has now"),
  organization: field(ArchivedOrganization, "the structure, as `organization.json` of an archive has it")
}).annotations({ identifier: "ExportedStructure", description: "the structure of an organization that is exported" })
export type ExportedStructure = typeof ExportedStructure.Type

/** Read an environment again from its beginning if its pages have different revisions. */
export const ExportedVersions = Schema.Struct({
  revision: field(Count, "grows with every write or removal of a secret in the environment", 42),
  ...list(ArchivedVersion).fields,
  next_cursor: field(Schema.NullOr(Schema.String), "the `after` of the next page; null at the end", null)
}).annotations({
  identifier: "ExportedVersions",
  description: "a page of the secrets of an environment, with their values"
})
export type ExportedVersions = typeof ExportedVersions.Type

const cursorForm = /^v([1-9][0-9]{0,9})\.([A-Za-z_][A-Za-z0-9_.-]{0,99})$/

/** Where a page of an export begins. Opaque: clients send it back as `after`. */
export const ExportCursor = Schema.String.pipe(
  Schema.pattern(cursorForm, {
    ...withMessage("must be the next_cursor of an earlier page"),
    description: "the `next_cursor` of the previous page",
    examples: ["v3.DATABASE_URL"]
  })
)

/** The last version of a page, in byte order of keys and by numbers. */
export interface ExportPosition {
  readonly key: string
  readonly version: number
}

export const exportCursorOf = ({ key, version }: ExportPosition): string => `v${version}.${key}`

/** Returns the position that a cursor encodes; the inverse of `exportCursorOf`. Before all without a cursor. */
export const exportPositionOf = (cursor: string | undefined): ExportPosition => {
  const [, version = "0", key = ""] = cursorForm.exec(cursor ?? "") ?? []
  return { key, version: Number(version) }
}
