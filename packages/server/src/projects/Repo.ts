import type { EnvId, EnvName, OrgId, ProjectId, ProjectName } from "@coffer/domain/Names"
import { Project } from "@coffer/domain/Project"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { Reader } from "../database/Reader.js"
import { rowsOf } from "../database/Writer.js"

const ProjectRow = Schema.typeSchema(Project)
const StampRow = Schema.Struct({ created_at: Schema.String })
const CountRow = Schema.Struct({ count: Schema.Number })

export class ProjectsRepo extends Effect.Service<ProjectsRepo>()("@coffer/server/ProjectsRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const reader = yield* Reader
    const projects = reader.rows(ProjectRow)

    return {
      all: (orgId: OrgId) =>
        projects(
          `SELECT id, name, created_at, updated_at FROM projects WHERE org_id = ? AND removed_at IS NULL ORDER BY name`,
          [orgId]
        ),

      find: (id: ProjectId) =>
        Effect.map(
          projects(`SELECT id, name, created_at, updated_at FROM projects WHERE id = ? AND removed_at IS NULL`, [id]),
          (rows) => rows[0]
        ),

      count: (orgId: OrgId) =>
        Effect.map(
          rowsOf(CountRow)(sql`SELECT count(*) AS count FROM projects WHERE org_id = ${orgId} AND removed_at IS NULL`),
          (rows) => rows[0]?.count ?? 0
        ),

      insert: (row: {
        readonly id: ProjectId
        readonly org_id: OrgId
        readonly name: ProjectName
        readonly created_at: string
      }) => sql`INSERT INTO projects ${sql.insert({ ...row, updated_at: row.created_at })}`,

      insertEnvironments: (
        rows: ReadonlyArray<{
          readonly id: EnvId
          readonly project_id: ProjectId
          readonly name: EnvName
          readonly created_at: string
        }>
      ) => sql`INSERT INTO environments ${sql.insert(rows.map((row) => ({ ...row, updated_at: row.created_at })))}`,

      rename: (id: ProjectId, name: ProjectName, now: string) =>
        rowsOf(StampRow)(
          sql`UPDATE projects SET name = ${name}, updated_at = ${now}, revision = revision + 1
            WHERE id = ${id} AND removed_at IS NULL RETURNING created_at`
        ),

      remove: (id: ProjectId, now: string) =>
        rowsOf(StampRow)(
          sql`UPDATE projects SET removed_at = ${now}, revision = revision + 1
            WHERE id = ${id} AND removed_at IS NULL RETURNING created_at`
        )
    } as const
  })
}) {}
