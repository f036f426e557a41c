import type { SecretId } from "@coffer/domain/base/Ids"
import type { SecretKey } from "@coffer/domain/base/Names"
import type { Action } from "@coffer/domain/access/Permissions"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { type EnvPlace, sourceOf } from "../../access/Access.js"
import { AuditLog } from "../../audit/AuditLog.js"
import { decryptionFailures } from "../../keys/Keyring.js"

/** Identifies a version of a secret. */
export interface VersionOf {
  readonly id: SecretId
  readonly key: SecretKey
  readonly version: number
}

/** At most one audit entry and log line per version in this time: otherwise a loop of reads would flood both. */
const quietMillis = 10 * 60 * 1000

/** How many reported versions are remembered. A damaged file can have more; the oldest are then reported again. */
const maxRemembered = 10_000

/**
 * Returns the function that reports a version that does not decrypt, or is not the newest of its secret. A metric
 * counts each failure; the audit log and an error line name the version. A rollback of the open transaction does not
 * undo these.
 */
export const makeFailureReports = Effect.gen(function* () {
  const audit = yield* AuditLog
  const reported = new Map<string, number>()

  const isQuiet = (version: string, millis: number): boolean => {
    const last = reported.get(version)
    if (last !== undefined && millis - last < quietMillis && millis >= last) return true
    reported.delete(version)
    reported.set(version, millis)
    const [oldest] = reported.keys()
    if (reported.size > maxRemembered && oldest !== undefined) reported.delete(oldest)
    return false
  }

  return Effect.fnUntraced(function* (place: EnvPlace<Action>, { id, key, version }: VersionOf) {
    yield* Metric.increment(decryptionFailures)
    if (isQuiet(`${id} ${version}`, yield* Clock.currentTimeMillis)) return
    yield* audit.refused(sourceOf(place), {
      action: "secret.decryption_failed",
      resource_type: "secret",
      resource_id: id,
      metadata: { key, version }
    })
    yield* Effect.logError(
      `a secret does not decrypt: organization ${place.org.id}, project ${place.project.id}, environment ${place.env.id}, ` +
        `secret ${id}, version ${version}; restore it from a backup, and find out who can write the database file`
    )
  })
})
