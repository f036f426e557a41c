import { type OrgId, ProjectId } from "@coffer/domain/base/Ids"
import { ProjectName } from "@coffer/domain/base/Names"
import type { Project } from "@coffer/domain/directory/Project"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { allPages } from "../../database/Pages.js"
import { query } from "../../database/Query.js"
import { CountRow } from "../../database/Rows.js"

const ProjectRow = Schema.Struct({
  id: ProjectId,
  name: ProjectName,
  strict: Schema.Number,
  created_at: Schema.String,
  updated_at: Schema.String
})
const StampRow = Schema.Struct({ created_at: Schema.String })
const ChangedRow = Schema.Struct({ name: ProjectName, strict: Schema.Number, created_at: Schema.String })

const projectOf = ({ strict, ...row }: typeof ProjectRow.Type): Project => ({ ...row, strict: strict === 1 })

export const projectsRepo = Effect.gen(function* () {
  const { all, first, insert, one, returning } = yield* query
  const pages = yield* allPages

  const page = all(ProjectRow)`
    SELECT id, name, strict, created_at, updated_at FROM projects
    WHERE org_id = ${"orgId"} AND removed_at IS NULL AND name > ${"after"} ORDER BY name LIMIT ${"limit"}`

  const find = first(ProjectRow)`
    SELECT id, name, strict, created_at, updated_at FROM projects WHERE id = ${"id"} AND removed_at IS NULL`

  return {
    all: (orgId: OrgId) =>
      Effect.map(
        pages(
          "",
          (after, limit) => page({ orgId, after, limit }),
          ({ name }): string => name
        ),
        (rows) => rows.map(projectOf)
      ),

    find: (id: ProjectId) => Effect.map(find({ id }), (row) => row && projectOf(row)),

    count: one(CountRow)`SELECT count(*) AS count FROM projects WHERE org_id = ${"orgId"} AND removed_at IS NULL`,

    insert: insert("projects", ["id", "org_id", "name", "strict", "created_at", "updated_at"]),

    /** Null leaves a column as it is. */
    change: returning(ChangedRow)`
      UPDATE projects SET name = coalesce(${"name"}, name), strict = coalesce(${"strict"}, strict),
        updated_at = ${"now"}, revision = revision + 1
      WHERE id = ${"id"} AND removed_at IS NULL RETURNING name, strict, created_at`,

    remove: returning(StampRow)`
      UPDATE projects SET removed_at = ${"now"}, revision = revision + 1
      WHERE id = ${"id"} AND removed_at IS NULL RETURNING created_at`
  } as const
})
