import type { Backup } from "@coffer/domain/server/Backup"
import { BackupFailed, BackupsDisabled, Conflict } from "@coffer/domain/errors/Errors"
import * as Effect from "effect/Effect"
import type { LocalFailure } from "../../base/files/LocalFailure.js"
import type { StoreFailure } from "./ObjectStore.js"

export const disabled = new BackupsDisabled({
  message: "backups are off: an operator has to set BACKUP_S3_ENDPOINT or BACKUP_DIR"
})

/** The response includes the store's error code, which helps its operator. Local failures are only logged. */
export const storeFailed = (what: string) => (failure: StoreFailure) =>
  Effect.zipRight(
    Effect.logError(`${what} failed: ${failure.message}`),
    new BackupFailed({ message: `${what} failed: ${failure.message}` })
  )

const locallyFailed =
  (what: string) =>
  ({ full, reason }: LocalFailure) =>
    Effect.zipRight(
      Effect.logError(`${what} failed: ${reason}`),
      new BackupFailed({
        message: full
          ? `${what} failed: the disk with the server's database is full`
          : `${what} failed on the server's side: its log says why`
      })
    )

export const failed = (what: string) => ({ StoreFailure: storeFailed(what), LocalFailure: locallyFailed(what) })

export const otherKey = ({ id, key_fingerprint }: Backup, purpose: string) =>
  new Conflict({
    message: `backup ${id} is under another master key (fingerprint ${key_fingerprint}): start a server with that key to ${purpose} it`
  })
