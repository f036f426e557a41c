import * as Schema from "effect/Schema"
import { withMessage } from "../base/Message.js"
import { EnvName } from "../base/Names.js"
import { Pagination } from "../base/Pagination.js"
import { field, list } from "../base/Schemas.js"
import { Revision } from "./Revision.js"

/** Each environment that has more, with the revision that its next one is below. */
const cursorForm = /^h(?:~[a-z0-9-]{2,50}\.[0-9]{1,10}){0,100}$/

/** The end of a page of a project's revisions. Opaque: clients send it back as `after`. */
export const HistoryCursor = Schema.String.pipe(
  Schema.pattern(cursorForm, {
    ...withMessage("must be the next_cursor of an earlier page"),
    description: "the `next_cursor` of the previous page",
    examples: ["h~dev.12~prod.42"]
  })
)

/** For each environment that may have more, the revision that its next one is below. */
export type HistoryPosition = ReadonlyMap<string, number>

export const historyCursorOf = (position: HistoryPosition): string =>
  ["h", ...[...position].map(([env, before]) => `${env}.${before}`)].join("~")

/** Returns the position that a cursor encodes; the inverse of `historyCursorOf`. Undefined without a cursor. */
export const historyPositionOf = (cursor: string | undefined): HistoryPosition | undefined =>
  cursor === undefined
    ? undefined
    : new Map(
        cursor
          .split("~")
          .slice(1)
          .map((part) => {
            const [env = "", before = "0"] = part.split(".")
            return [env, Number(before)] as const
          })
      )

export const ProjectRevision = Schema.Struct({
  env: field(EnvName, "the environment's name"),
  ...Revision.fields
}).annotations({
  identifier: "ProjectRevision",
  description: "one change of an environment of a project, without values",
  examples: [
    {
      env: EnvName.make("prod"),
      revision: 42,
      created_at: "2026-02-01T08:30:00.000Z",
      created_by: "ada@example.com",
      keys: []
    }
  ]
})
export type ProjectRevision = typeof ProjectRevision.Type

export const ProjectRevisions = Schema.Struct({
  ...list(ProjectRevision).fields,
  pagination: field(Pagination, "position of this page in the list")
}).annotations({ identifier: "ProjectRevisions", description: "a page of a project's revisions, newest first" })
export type ProjectRevisions = typeof ProjectRevisions.Type
