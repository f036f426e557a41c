import * as Schema from "effect/Schema"
import { BackupId } from "../base/Ids.js"
import { createdAt, extensibleEnum, field } from "../base/Schemas.js"

const instance = field(Schema.String, "the id of the database", "7d3e9c52-1b64-4a0f-8e2d-5c6b7a8f9e01")
const size = field(Schema.Int, "its size in bytes", 1_048_576)

export const Backup = Schema.Struct({
  id: field(BackupId, "its id"),
  created_at: createdAt,
  size_bytes: size,
  trigger: field(
    extensibleEnum("BackupTrigger", "how a backup was started: by a user, or by the schedule", ["manual", "scheduled"]),
    "how the backup was started",
    "scheduled"
  ),
  key_fingerprint: field(Schema.String, "fingerprint of the master key that encrypts it", "3f9a1c2e7b5d4f60"),
  instance
}).annotations({ identifier: "Backup", description: "an encrypted snapshot of the database in the object store" })
export type Backup = typeof Backup.Type

/**
 * All backups in the store, and this server's instance id. Servers may share a store: the id prevents the restore of
 * another server's backup by mistake.
 */
export const BackupList = Schema.Struct({
  data: field(Schema.Array(Backup), "the records"),
  server: field(
    Schema.Struct({
      instance,
      organizations: field(Schema.Int, "number of organizations on this server", 1)
    }).annotations({ identifier: "BackupServer", description: "the server that sent this response" }),
    "this server, to identify its own backups and to tell whether it is empty"
  )
}).annotations({
  identifier: "BackupList",
  description: "the backups in the store, and this server's instance"
})
export type BackupList = typeof BackupList.Type

/** The record counts of a backup. Removed records are not counted, except versions and audit entries. */
export const BackupCounts = Schema.Struct({
  organizations: field(Schema.Int, "number of organizations", 1),
  projects: field(Schema.Int, "number of projects", 3),
  environments: field(Schema.Int, "number of environments", 6),
  secrets: field(Schema.Int, "number of secrets", 42),
  versions: field(Schema.Int, "number of versions of secrets", 128),
  entries: field(Schema.Int, "number of audit entries", 1_024)
}).annotations({ identifier: "BackupCounts", description: "the number of records in a backup" })
export type BackupCounts = typeof BackupCounts.Type

const counts = "number of records in the backup"

/** A backup that was decrypted into a file beside the live database. */
export const Restore = Schema.Struct({
  id: field(BackupId, "its id"),
  path: field(
    Schema.String,
    "the decrypted file, on the server's machine",
    "/var/lib/coffer/service.db.restore.0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d90"
  ),
  size_bytes: size,
  counts: field(BackupCounts, counts)
}).annotations({
  identifier: "Restore",
  description: "a backup that was decrypted into a file on the server's machine"
})
export type Restore = typeof Restore.Type

/** The result of a restore drill: a backup is fetched, decrypted, checked and deleted again. */
export const Drill = Schema.Struct({
  backup: field(Backup, "the backup that was checked"),
  valid: field(Schema.Boolean, "whether the backup is intact", true),
  problems: field(Schema.Array(Schema.String), "the problems found; they contain ids, but no values", []),
  age_seconds: field(Schema.Int, "age of the backup in seconds", 7_200),
  seconds: field(Schema.Number, "duration of the drill in seconds", 1.4),
  counts: field(Schema.NullOr(BackupCounts), `${counts}; null if they could not be counted`)
}).annotations({
  identifier: "Drill",
  description: "the result of a drill, which restores a backup into a temporary file and checks it"
})
export type Drill = typeof Drill.Type
