import type { EnvId } from "@coffer/domain/base/Ids"
import { SecretId } from "@coffer/domain/base/Ids"
import { SecretKey } from "@coffer/domain/base/Names"
import type { MatrixEnvironment } from "@coffer/domain/secrets/Matrix"
import { targetStates } from "@coffer/domain/secrets/TargetState"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { liveEnv } from "../../access/place/PlaceRow.js"
import { allPages } from "../../database/Pages.js"
import { query, sql } from "../../database/Query.js"
import { RevisionRow, revisionColumns } from "../../directory/environments/Repo.js"
import { dueColumns, dueFields, joinDue } from "./DueColumns.js"
import { newestVersion, sealedColumns, sealedFields } from "./Columns.js"

const MatrixSecretRow = Schema.Struct({
  revision: Schema.Number,
  due_revision: Schema.Number,
  id: SecretId,
  key: SecretKey,
  version: Schema.Number,
  updated_at: Schema.String,
  /** Null if the current version is not the newest: somebody then edited the database. */
  created_by: Schema.NullOr(Schema.String),
  ...dueFields,
  ...sealedFields
})
export type MatrixSecretRow = typeof MatrixSecretRow.Type

const ColumnRow = Schema.Struct({
  ...RevisionRow.fields,
  /** The place of the worst state of its targets in `targetStates`, from 1; null if none was checked. */
  target_state: Schema.NullOr(Schema.Number)
})

const worstState = sql`min(CASE t.state WHEN 'changed there' THEN 1 WHEN 'missing there' THEN 2 WHEN 'unknown' THEN 3 WHEN 'in step' THEN 4 END)`

/** The field of a column. */
export const targetsOf = (state: number | null): Pick<MatrixEnvironment, "targets"> => {
  const targets = state === null ? undefined : targetStates[state - 1]
  return targets === undefined ? {} : { targets }
}

/** The live secrets of an environment as a matrix needs them. */
export const matrixRepo = Effect.gen(function* () {
  const { all } = yield* query
  const pages = yield* allPages

  const column = all(MatrixSecretRow)`
      SELECT e.revision AS revision, e.due_revision AS due_revision, s.id AS id, s.key AS key, s.version AS version, s.updated_at AS updated_at,
        v.created_by AS created_by, ${dueColumns}, ${sealedColumns}
      FROM environments e JOIN secrets s ON s.env_id = e.id AND s.removed_at IS NULL ${newestVersion} ${joinDue}
      WHERE e.id = ${"envId"} AND ${liveEnv} AND s.key > ${"after"}
      ORDER BY s.key LIMIT ${"limit"}`

  return {
    /** The environments of a project, with their revisions and the worst state of their targets. */
    columns: all(ColumnRow)`
      SELECT ${revisionColumns}, (SELECT ${worstState} FROM targets t WHERE t.env_id = e.id) AS target_state
      FROM environments e WHERE e.project_id = ${"projectId"} AND ${liveEnv} ORDER BY e.name`,

    /** The secrets of an environment in byte order of their keys, from one snapshot. */
    column: (envId: EnvId) =>
      pages(
        "",
        (after, limit) => column({ envId, after, limit }),
        ({ key }): string => key
      )
  } as const
})
