import type { BackupId } from "@coffer/domain/Names"
import { SqlClient } from "@effect/sql"
import { Effect, Schema } from "effect"
import { Reader } from "../database/Reader.js"
import { transaction } from "../database/Writer.js"
import type { RestoreMark } from "./Retention.js"

const RestoreRow = Schema.Struct({ backup_created_at: Schema.String, at: Schema.String })
const DrillRow = Schema.Struct({
  backup_id: Schema.String,
  drilled_at: Schema.String,
  seconds: Schema.Number,
  valid: Schema.Number
})
const CountRow = Schema.Struct({ count: Schema.Number })

export interface DrillNote {
  readonly backup_id: BackupId
  readonly drilled_at: string
  readonly seconds: number
  readonly valid: boolean
}

/**
 * Notes that a restored file is the live database now, where nothing has noted it yet. Call it before the first backup: the
 * retention then spares what is newer than the backup that was restored.
 */
export const noteApplied = (now: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    transaction(sql`UPDATE restores SET applied_at = ${now} WHERE applied_at IS NULL`)
  )

/** What the database knows about its backups beside the store's list. */
export class BackupsRepo extends Effect.Service<BackupsRepo>()("@coffer/server/BackupsRepo", {
  effect: Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const reader = yield* Reader
    const restoreRows = reader.rows(RestoreRow)
    const drillRows = reader.rows(DrillRow)
    const counts = reader.rows(CountRow)

    return {
      restores: Effect.map(
        restoreRows("SELECT backup_created_at, coalesce(applied_at, restored_at) AS at FROM restores", []),
        (rows) =>
          rows.map(({ at, backup_created_at }): RestoreMark => ({
            from: Date.parse(backup_created_at),
            at: Date.parse(at)
          }))
      ),

      /** The last drill of each backup, the newest first. */
      drills: drillRows("SELECT backup_id, drilled_at, seconds, valid FROM drills ORDER BY drilled_at DESC", []),

      noteDrill: ({ backup_id, drilled_at, seconds, valid }: DrillNote) =>
        transaction(
          sql`INSERT INTO drills (backup_id, drilled_at, seconds, valid)
            VALUES (${backup_id}, ${drilled_at}, ${seconds}, ${valid ? 1 : 0})
            ON CONFLICT (backup_id) DO UPDATE
              SET drilled_at = excluded.drilled_at, seconds = excluded.seconds, valid = excluded.valid`
        ),

      /** The number of live organizations. */
      organizations: Effect.map(
        counts("SELECT count(*) AS count FROM organizations WHERE removed_at IS NULL", []),
        ([row]) => row?.count ?? 0
      )
    } as const
  })
}) {}
