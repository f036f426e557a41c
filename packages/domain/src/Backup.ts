import { Schema } from "effect"
import { BackupId, openWord, Timestamp } from "./Names.js"

export const Backup = Schema.Struct({
  id: BackupId,
  created_at: Timestamp,
  size_bytes: Schema.Int,
  trigger: openWord("BackupTrigger", ["manual", "scheduled"]),
  key_fingerprint: Schema.String,
  instance: Schema.String
}).annotations({ identifier: "Backup" })
export type Backup = typeof Backup.Type

/** A backup decrypted into a file beside the database; the live database is untouched. */
export const Restore = Schema.Struct({
  id: BackupId,
  path: Schema.String,
  size_bytes: Schema.Int
}).annotations({ identifier: "Restore" })
export type Restore = typeof Restore.Type
