import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { query } from "../../database/Query.js"
import { CountRow } from "../../database/Rows.js"

const RestoreRow = Schema.Struct({ backup_created_at: Schema.String, applied_at: Schema.String })
const MarkRow = Schema.Struct({ backup_id: Schema.NullOr(Schema.String), backup_created_at: Schema.String })
const DrillRow = Schema.Struct({
  backup_id: Schema.String,
  drilled_at: Schema.String,
  seconds: Schema.Number,
  valid: Schema.Number
})

/** Restores and drills. The backups themselves are only in the store. */
export const backupsRepo = Effect.gen(function* () {
  const { all, first, one, write } = yield* query

  return {
    restores: all(RestoreRow)`SELECT backup_created_at, coalesce(applied_at, restored_at) AS applied_at FROM restores`,

    /** The newest restore whose file has not become the live database yet. */
    newestRestore: first(MarkRow)`
      SELECT backup_id, backup_created_at FROM restores WHERE applied_at IS NULL ORDER BY restored_at DESC LIMIT 1`,

    insertRestore: write`
      INSERT INTO restores (backup_id, backup_created_at, restored_at, applied_at)
      VALUES (NULL, ${"backupCreatedAt"}, ${"now"}, ${"now"})`,

    /**
     * Marks pending restores as applied. Call it before the first backup, so that retention keeps the backups that are newer
     * than the restored one.
     */
    noteApplied: write`UPDATE restores SET applied_at = ${"now"} WHERE applied_at IS NULL`,

    /** The last drill of each backup, newest first. */
    drills: all(DrillRow)`SELECT backup_id, drilled_at, seconds, valid FROM drills ORDER BY drilled_at DESC`,

    noteDrill: write`
      INSERT INTO drills (backup_id, drilled_at, seconds, valid)
      VALUES (${"backupId"}, ${"drilledAt"}, ${"seconds"}, ${"valid"})
      ON CONFLICT (backup_id) DO UPDATE
        SET drilled_at = excluded.drilled_at, seconds = excluded.seconds, valid = excluded.valid`,

    organizations: one(CountRow)`SELECT count(*) AS count FROM organizations WHERE removed_at IS NULL`
  } as const
})
