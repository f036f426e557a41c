import { BackupId } from "@coffer/domain/base/Ids"
import type { BackupFailed } from "@coffer/domain/errors/Errors"
import { Backups } from "@coffer/server/operations/backups/Backups"
import { timestamp } from "@coffer/server/base/Time"
import type { Fenced } from "@coffer/server/database/jobs/Lease"
import { Effect, Option } from "effect"

/** A store that nobody asks. */
export const storeSettings = {
  BACKUP_S3_ENDPOINT: "http://127.0.0.1:1",
  BACKUP_S3_BUCKET: "bucket",
  BACKUP_S3_ACCESS_KEY: "access",
  BACKUP_S3_SECRET_KEY: "secret"
}

const unused = Effect.dieMessage("the schedule does not ask for this")

interface Made {
  /** When the newest one was made, in milliseconds. */
  readonly newest: () => number | null | undefined
  /** Makes one; answers when. */
  readonly make: (fenced: Fenced) => Effect.Effect<number, BackupFailed>
}

/** Backups as far as the schedule knows them. */
export const scheduledBackups = ({ make, newest }: Made) =>
  Backups.make({
    create: () => unused,
    list: () => unused,
    restore: () => unused,
    drill: () => unused,
    lastScheduled: Effect.sync(() => Option.fromNullable(newest())),
    scheduled: (fenced) =>
      Effect.map(make(fenced), (millis) => ({
        id: BackupId.make("0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1d2e"),
        created_at: timestamp(millis),
        size_bytes: 1,
        trigger: "scheduled",
        key_fingerprint: "",
        instance: ""
      }))
  })
