import * as Schema from "effect/Schema"
import { withMessage } from "../base/Message.js"
import { ProjectName } from "../base/Names.js"
import { Pagination } from "../base/Pagination.js"
import { Count, field, list, optional, Timestamp } from "../base/Schemas.js"
import { DueSecret } from "./Due.js"

/** How many due secrets an overview names. */
export const maxOverviewDue = 5

const cursorForm = /^o~([a-z0-9-]{2,50})$/

/** The end of a page of an overview. Opaque: clients send it back as `after`. */
export const OverviewCursor = Schema.String.pipe(
  Schema.pattern(cursorForm, {
    ...withMessage("must be the next_cursor of an earlier page"),
    description: "the `next_cursor` of the previous page",
    examples: ["o~webshop"]
  })
)

export const overviewCursorOf = (project: ProjectName): string => `o~${project}`

/** Returns the project that a cursor names; the inverse of `overviewCursorOf`. The beginning without a cursor. */
export const overviewPositionOf = (cursor: string | undefined): string => cursorForm.exec(cursor ?? "")?.[1] ?? ""

export const ProjectOverview = Schema.Struct({
  project: field(ProjectName, "the project's name"),
  environments: field(Count, "the number of its environments", 3),
  keys: field(Count, "the number of secrets in the environments whose keys the caller may list", 42),
  changed_at: field(
    Schema.NullOr(Timestamp),
    "time of the last change of a secret in those environments; null: there was none",
    "2026-02-01T08:30:00.000Z"
  ),
  changed_by: field(
    Schema.NullOr(Schema.String),
    "the e-mail or service account name of who made it; null if not recorded",
    "ada@example.com"
  )
}).annotations({ identifier: "ProjectOverview", description: "how much is in a project, and when it last changed" })
export type ProjectOverview = typeof ProjectOverview.Type

export const Overview = Schema.Struct({
  projects: field(Count, "the number of the organization's projects that the caller may see", 12),
  failing_webhooks: optional(
    Count,
    "the number of webhooks whose deliveries fail, or that the server disabled after that; left out if the caller may not list webhooks",
    0
  ),
  due: optional(
    Schema.Array(DueSecret),
    `the first ${maxOverviewDue} secrets that are overdue or due within 14 days, in all environments whose keys the caller may list; only on the first page`
  ),
  more_due: optional(Schema.Boolean, "whether more are due; only on the first page", false),
  waiting: optional(
    Count,
    "the number of requests that wait for the caller: for its vote, or for its decision on a use of secrets; only on the first page, and of many at most 1,000 of each",
    0
  ),
  ...list(ProjectOverview).fields,
  pagination: field(Pagination, "position of this page in the list")
}).annotations({
  identifier: "Overview",
  description: "a page of an organization's projects, by name, and what is due, waits and fails"
})
export type Overview = typeof Overview.Type
