import type { Backup, Drill } from "@coffer/domain/server/Backup"
import { useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { Dialog } from "../../kit/Dialog.js"
import { Empty, ListPage } from "../../kit/ListPage.js"
import { useLoad } from "../../kit/Load.js"
import { Menu, MenuItem } from "../../kit/Menu.js"
import { Problem } from "../../kit/Problem.js"
import { exactly } from "../../kit/Exactly.js"
import { When } from "../../kit/When.js"
import { RestoreDialog } from "./RestoreDialog.js"
import { sizeOf } from "./BackupSize.js"

interface Listed {
  readonly backup: Backup
  /** Whether this server made it. */
  readonly isOwn: boolean
}

const read = Effect.map(
  Effect.suspend(() => call("backups", (api) => api.list())),
  ({ data, server }) => data.map((backup): Listed => ({ backup, isOwn: backup.instance === server.instance }))
)

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

const Row = ({ backup, isOwn }: Listed) => {
  const open = useSignal<"restore" | Drill | null>(null)
  const act = useAct()
  const { created_at, id, key_fingerprint, size_bytes, trigger } = backup
  const found = open.value
  return (
    <tr>
      <th scope="row">
        <When time={created_at} /> {!isOwn && <span class="badge warn">another server</span>}{" "}
        {act.isBusy.value && (
          <span class="badge" role="status">
            checking
          </span>
        )}
      </th>
      <td>{sizeOf(size_bytes)}</td>
      <td>{trigger}</td>
      <td>
        <code>{key_fingerprint}</code>
      </td>
      <td class="actions">
        <Menu label={`Actions for the backup of ${created_at}`}>
          <MenuItem
            run={() => {
              act.run(
                call("backups", (api) => api.drill({ payload: { backup_id: id } })),
                (drill) => (open.value = drill)
              )
            }}
          >
            Check<span class="hidden"> the backup of {created_at}</span>
          </MenuItem>
          <MenuItem run={() => (open.value = "restore")}>
            Restore<span class="hidden"> the backup of {created_at}</span>
          </MenuItem>
        </Menu>
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
    <ListPage
      title="Backups"
      about="Encrypted snapshots of the whole database."
      create={
        <>
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
          <Problem failure={act.failure.value} />
        </>
      }
      of={backups}
      heads={["Made", "Size", "By", "Key", ""]}
      textOf={({ backup: { created_at, key_fingerprint, trigger } }) =>
        `${exactly(created_at)} ${trigger} ${key_fingerprint}`
      }
      empty={<Empty title="There are no backups yet" />}
      row={(one) => <Row key={one.backup.id} {...one} />}
    />
  )
}
