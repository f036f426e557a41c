import type { KeyObject } from "node:crypto"
import { type Backup, BackupCounts, type Drill } from "@coffer/domain/server/Backup"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { ObjectStore, StoreFailure } from "./ObjectStore.js"
import { objectName } from "./ObjectName.js"
import type { LocalFailure } from "../../base/files/LocalFailure.js"
import { restoreScratch } from "./Restore.js"
import { runThread } from "../../base/files/Thread.js"

const Checked = Schema.Struct({ problems: Schema.Array(Schema.String), counts: Schema.NullOr(BackupCounts) })

/** Counts the rows of a restored file, in a thread because its tables may be large. */
export const countBackup = (path: string): Effect.Effect<BackupCounts, LocalFailure> =>
  Effect.flatMap(runThread("count", [path]), (posted) => Effect.orDie(Schema.decodeUnknown(BackupCounts)(posted)))

interface DrillRequest {
  readonly backup: Backup
  readonly store: ObjectStore
  /** The scratch file is created beside it. */
  readonly dbPath: string
  readonly masterKey: Redacted.Redacted
  readonly backupKey: KeyObject
}

/**
 * Restores a backup into a scratch file and verifies it in a thread: pages, references, schema, master key, the chain of each
 * audit log, and every version of every secret. A damaged backup is a result, not a failure.
 */
export const drillBackup = ({
  backup,
  backupKey,
  dbPath,
  masterKey,
  store
}: DrillRequest): Effect.Effect<Drill, StoreFailure | LocalFailure> =>
  Effect.gen(function* () {
    const begin = yield* Clock.currentTimeMillis
    const name = objectName(backup)
    const { counts, problems } = yield* restoreScratch({
      dbPath,
      key: backupKey,
      mark: { id: backup.id, name },
      created_at: backup.created_at,
      size: backup.size_bytes,
      content: store.read(name)
    }).pipe(
      Effect.flatMap((path) => runThread("drill", [], { path, masterKey: Redacted.value(masterKey) })),
      Effect.flatMap((posted) => Effect.orDie(Schema.decodeUnknown(Checked)(posted))),
      Effect.catchTag("DecryptionFailed", ({ message }) => Effect.succeed({ counts: null, problems: [message] })),
      Effect.scoped
    )
    const end = yield* Clock.currentTimeMillis
    return {
      backup,
      valid: problems.length === 0,
      problems,
      age_seconds: Math.max(0, Math.round((begin - Date.parse(backup.created_at)) / 1000)),
      seconds: Math.max(0, end - begin) / 1000,
      counts
    }
  })

export const drillLine = ({ age_seconds, backup, counts, problems, seconds, valid }: Drill): string => {
  const facts = `${Math.round(age_seconds / 3600)} hours old, checked in ${seconds} s`
  return valid && counts !== null
    ? `drill: backup ${backup.id} is good (${facts}): ${counts.secrets} secrets, ${counts.versions} versions, ${counts.entries} audit entries`
    : `drill: backup ${backup.id} is damaged (${facts}): ${problems.join("; ")}`
}
