import { Schema } from "effect"
import { BackupId } from "./Ids.js"
import { extensibleEnum, Timestamp } from "./Schemas.js"

export const Backup = Schema.Struct({
  id: BackupId,
  created_at: Timestamp,
  size_bytes: Schema.Int,
  trigger: extensibleEnum("BackupTrigger", ["manual", "scheduled"]),
  key_fingerprint: Schema.String,
  instance: Schema.String
}).annotations({ identifier: "Backup" })
export type Backup = typeof Backup.Type

/**
 * All backups in the store, and this server's instance id. Servers may share a store: the id prevents the restore of
 * another server's backup by mistake.
 */
export const BackupList = Schema.Struct({
  data: Schema.Array(Backup),
  server: Schema.Struct({
    instance: Schema.String,
    organizations: Schema.Int
  }).annotations({ identifier: "BackupServer" })
}).annotations({ identifier: "BackupList" })
export type BackupList = typeof BackupList.Type

/** The record counts of a backup. Removed records are not counted, except versions and audit entries. */
export const BackupCounts = Schema.Struct({
  organizations: Schema.Int,
  projects: Schema.Int,
  environments: Schema.Int,
  secrets: Schema.Int,
  versions: Schema.Int,
  entries: Schema.Int
}).annotations({ identifier: "BackupCounts" })
export type BackupCounts = typeof BackupCounts.Type

/** A backup that was decrypted into a file beside the live database. */
export const Restore = Schema.Struct({
  id: BackupId,
  path: Schema.String,
  size_bytes: Schema.Int,
  counts: BackupCounts
}).annotations({ identifier: "Restore" })
export type Restore = typeof Restore.Type

/** The result of a restore drill: a backup is fetched, decrypted, checked and deleted again. */
export const Drill = Schema.Struct({
  backup: Backup,
  valid: Schema.Boolean,
  problems: Schema.Array(Schema.String),
  age_seconds: Schema.Int,
  seconds: Schema.Number,
  counts: Schema.NullOr(BackupCounts)
}).annotations({ identifier: "Drill" })
export type Drill = typeof Drill.Type
