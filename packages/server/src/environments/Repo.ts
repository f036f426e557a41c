import { Environment } from "@coffer/domain/Environment"
import type { EnvId, EnvName, ProjectId } from "@coffer/domain/Names"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { Reader } from "../database/Reader.js"
import { rowsOf } from "../database/Writer.js"

const EnvironmentRow = Schema.typeSchema(Environment)
const StampRow = Schema.Struct({ created_at: Schema.String })
const CountRow = Schema.Struct({ count: Schema.Number })

export class EnvironmentsRepo extends Effect.Service<EnvironmentsRepo>()("@coffer/server/EnvironmentsRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const reader = yield* Reader
    const environments = reader.rows(EnvironmentRow)

    return {
      all: (projectId: ProjectId) =>
        environments(
          `SELECT id, name, created_at, updated_at FROM environments
            WHERE project_id = ? AND removed_at IS NULL ORDER BY name`,
          [projectId]
        ),

      /** Takes the project's own row first, so that its limit holds for many writers; none when it is removed. */
      claimProject: (projectId: ProjectId) =>
        rowsOf(StampRow)(
          sql`UPDATE projects SET revision = revision + 1 WHERE id = ${projectId} AND removed_at IS NULL
            RETURNING created_at`
        ),

      count: (projectId: ProjectId) =>
        Effect.map(
          rowsOf(CountRow)(
            sql`SELECT count(*) AS count FROM environments WHERE project_id = ${projectId} AND removed_at IS NULL`
          ),
          (rows) => rows[0]?.count ?? 0
        ),

      insert: (row: {
        readonly id: EnvId
        readonly project_id: ProjectId
        readonly name: EnvName
        readonly created_at: string
      }) => sql`INSERT INTO environments ${sql.insert({ ...row, updated_at: row.created_at })}`,

      remove: (id: EnvId, now: string) =>
        rowsOf(StampRow)(
          sql`UPDATE environments SET removed_at = ${now}, revision = revision + 1
            WHERE id = ${id} AND removed_at IS NULL RETURNING created_at`
        )
    } as const
  })
}) {}
