import { Environment } from "@coffer/domain/Environment"
import { EnvId } from "@coffer/domain/Ids"
import { EnvName } from "@coffer/domain/Names"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { query } from "../../database/Query.js"

const EnvironmentRow = Schema.typeSchema(Environment)
const RevisionRow = Schema.Struct({ id: EnvId, name: EnvName, revision: Schema.Number, due_revision: Schema.Number })
const IdRow = Schema.Struct({ id: Schema.String })
const CountRow = Schema.Struct({ count: Schema.Number })

export const environmentsRepo = Effect.gen(function* () {
  const { all, one, returning, write } = yield* query

  return {
    all: all(EnvironmentRow)`
      SELECT id, name, created_at, updated_at FROM environments
      WHERE project_id = ${"projectId"} AND removed_at IS NULL ORDER BY name`,

    /** The environments with the revisions of their secrets and of their due dates. */
    revisions: all(RevisionRow)`
      SELECT id, name, revision, due_revision FROM environments
      WHERE project_id = ${"projectId"} AND removed_at IS NULL ORDER BY name`,

    count: one(CountRow)`
      SELECT count(*) AS count FROM environments WHERE project_id = ${"projectId"} AND removed_at IS NULL`,

    insert: write`
      INSERT INTO environments (id, project_id, name, created_at, updated_at)
      VALUES (${"id"}, ${"projectId"}, ${"name"}, ${"now"}, ${"now"})`,

    remove: returning(IdRow)`
      UPDATE environments SET removed_at = ${"now"}, revision = revision + 1
      WHERE id = ${"id"} AND removed_at IS NULL RETURNING id`
  } as const
})
