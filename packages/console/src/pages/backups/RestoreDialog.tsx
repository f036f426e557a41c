import type { Backup, Restore } from "@coffer/domain/server/Backup"
import { useSignal } from "@preact/signals"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { DialogButtons } from "../../kit/DialogButtons.js"
import { Dialog } from "../../kit/Dialog.js"
import { sizeOf } from "./BackupSize.js"

/** The remaining steps of a restore, on the server's machine. */
const Left = ({ counts, path, size_bytes }: Restore) => (
  <>
    <p>
      The backup is decrypted, {sizeOf(size_bytes)}: {counts.organizations} organizations, {counts.projects} projects,{" "}
      {counts.secrets} secrets. The running server is as it was. What is left, on its machine:
    </p>
    <ol>
      <li>Stop the server.</li>
      <li>
        Put <code>{path}</code> in the place of the database file, and remove the files beside it that end in{" "}
        <code>-wal</code> and <code>-shm</code>.
      </li>
      <li>Start the server. All that was changed after the backup is gone.</li>
    </ol>
  </>
)

/** Decrypts a backup into a file beside the database, and says what is left to do. */
export const RestoreDialog = ({ backup, close }: { readonly backup: Backup; readonly close: () => void }) => {
  const restored = useSignal<Restore | null>(null)
  const act = useAct()
  return (
    <Dialog title="Restore a backup" busy={act.isBusy} close={close}>
      {restored.value === null ? (
        <>
          <p>
            The backup of {backup.created_at} is decrypted into a file on the server's machine. The database that runs
            is not changed.
          </p>
          <DialogButtons
            act={act}
            close={close}
            word="Decrypt it"
            kind="primary"
            decide={() => {
              act.run(
                call("backups", (api) => api.restore({ path: { backup_id: backup.id } })),
                (found) => (restored.value = found)
              )
            }}
          />
        </>
      ) : (
        <Left {...restored.value} />
      )}
    </Dialog>
  )
}
