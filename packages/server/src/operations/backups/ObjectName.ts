import type { Backup } from "@coffer/domain/server/Backup"
import { BackupId } from "@coffer/domain/base/Ids"
import * as Option from "effect/Option"
import * as Order from "effect/Order"
import * as Schema from "effect/Schema"

const uuid = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
const form = new RegExp(
  `^(${uuid})/(\\d{4})(\\d\\d)(\\d\\d)T(\\d\\d)(\\d\\d)(\\d\\d\\.\\d{3}Z)_(manual|scheduled)_([0-9a-f]{16})_(${uuid})\\.bak$`
)

const decodeId = Schema.decodeOption(BackupId)

/**
 * The object name of a backup without the configured prefix: `{instance}/{time}_{trigger}_{key fingerprint}_{id}.bak`. The time
 * is in the basic format of ISO 8601, so that names sort by time.
 */
export const objectName = (backup: Omit<Backup, "size_bytes">): string =>
  `${backup.instance}/${backup.created_at.replace(/[-:]/g, "")}_${backup.trigger}_${backup.key_fingerprint}_${backup.id}.bak`

/** Orders backups by time, oldest first. */
export const byTime = Order.mapInput(Order.string, ({ created_at, id }: Backup) => `${created_at} ${id}`)

/** Parses the name of a backup's object; None for other objects. */
export const backupOf = (name: string, size_bytes: number): Option.Option<Backup> =>
  Option.gen(function* () {
    const match = yield* Option.fromNullable(form.exec(name))
    const [, instance = "", year, month, day, hour, minute, second, trigger = "", key_fingerprint = "", id = ""] = match
    const created_at = `${year}-${month}-${day}T${hour}:${minute}:${second}`
    const millis = Date.parse(created_at)
    if (Number.isNaN(millis) || new Date(millis).toISOString() !== created_at) return yield* Option.none()
    return { id: yield* decodeId(id), created_at, size_bytes, trigger, key_fingerprint, instance }
  })
