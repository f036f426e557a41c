import type { Backup, Drill } from "@coffer/domain/server/Backup"
import { useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { Dialog } from "../../kit/Dialog.js"
import { useLoad } from "../../kit/Load.js"
import { Problem } from "../../kit/Problem.js"
import { Reading } from "../../kit/Reading.js"
import { When } from "../../kit/When.js"
import { RestoreDialog } from "./RestoreDialog.js"
import { sizeOf } from "./BackupSize.js"
import { Table } from "../../kit/Table.js"

const read = Effect.suspend(() => call("backups", (api) => api.list()))

const DrillResult = ({ backup, problems, seconds, valid }: Drill) => (
  <>
    <p>
      <span class={valid ? "badge good" : "badge bad"}>{valid ? "intact" : "damaged"}</span> The backup of{" "}
      {backup.created_at} was restored into a temporary file and checked in {seconds.toFixed(1)} s.
    </p>
    <ul>
      {problems.map((problem) => (
        <li key={problem}>{problem}</li>
      ))}
    </ul>
  </>
)

const Row = ({ backup, isOwn }: { readonly backup: Backup; readonly isOwn: boolean }) => {
  const open = useSignal<"restore" | Drill | null>(null)
  const act = useAct()
  const { created_at, id, key_fingerprint, size_bytes, trigger } = backup
  const found = open.value
  return (
    <tr>
      <th scope="row">
        <When time={created_at} /> {!isOwn && <span class="badge warn">another server</span>}
      </th>
      <td>{sizeOf(size_bytes)}</td>
      <td>{trigger}</td>
      <td>
        <code>{key_fingerprint}</code>
      </td>
      <td class="actions">
        <button
          type="button"
          disabled={act.isBusy.value}
          onClick={() => {
            act.run(
              call("backups", (api) => api.drill({ payload: { backup_id: id } })),
              (drill) => (open.value = drill)
            )
          }}
        >
          Check<span class="hidden"> the backup of {created_at}</span>
        </button>
        <button type="button" onClick={() => (open.value = "restore")}>
          Restore<span class="hidden"> the backup of {created_at}</span>
        </button>
        <Problem failure={act.failure.value} />
        {found === "restore" && <RestoreDialog backup={backup} close={() => (open.value = null)} />}
        {found !== null && found !== "restore" && (
          <Dialog title="Check of a backup" close={() => (open.value = null)}>
            <DrillResult {...found} />
          </Dialog>
        )}
      </td>
    </tr>
  )
}

/** The backups of the server, for superadmins. */
export const Page = () => {
  const backups = useLoad("backups", () => read)
  const act = useAct()
  return (
    <section class="wide-page">
      <h1>Backups</h1>
      <p>
        Encrypted snapshots of the whole database.{" "}
        <button
          type="button"
          class="primary"
          disabled={act.isBusy.value}
          onClick={() => {
            act.run(
              call("backups", (api) => api.create()),
              backups.reload
            )
          }}
        >
          Back up now
        </button>
      </p>
      <Problem failure={act.failure.value} />
      <Reading of={backups}>
        {({ data, server }) =>
          data.length === 0 ? (
            <p class="quiet">There are no backups yet.</p>
          ) : (
            <Table label="Backups" heads={["Made", "Size", "By", "Key", ""]}>
              {data.map((backup) => (
                <Row key={backup.id} backup={backup} isOwn={backup.instance === server.instance} />
              ))}
            </Table>
          )
        }
      </Reading>
    </section>
  )
}
