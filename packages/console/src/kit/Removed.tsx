import type { NameForm } from "@coffer/domain/base/NameForms"
import type { Removed as RemovedPlace } from "@coffer/domain/directory/Removed"
import { useSignal } from "@preact/signals"
import type * as Effect from "effect/Effect"
import type { Failure } from "../client/Calls.js"
import { useAct } from "./Act.js"
import { ConfirmByName } from "./ConfirmByName.js"
import { Dialog } from "./Dialog.js"
import { useLoad } from "./Load.js"
import { Menu, MenuItem } from "./Menu.js"
import { By } from "./Person.js"
import { Problem } from "./Problem.js"
import { Table } from "./Table.js"
import { TextField } from "./TextField.js"
import { exactly } from "./Exactly.js"
import { Ahead } from "./When.js"

interface RemovedProps<Name extends string, E> {
  readonly what: "organization" | "project" | "environment"
  /** The list is read again when this changes. */
  readonly of: string
  readonly form: NameForm<Name>
  readonly list: Effect.Effect<{ readonly data: ReadonlyArray<RemovedPlace> }, E>
  /** The name is undefined if it gets the one that it had. */
  readonly restore: (id: RemovedPlace["id"], name: Name | undefined) => Effect.Effect<unknown, E>
  readonly erase: (id: RemovedPlace["id"], name: Name) => Effect.Effect<unknown, E>
  readonly done: () => void
}

interface RowProps<Name extends string, E> extends RemovedProps<Name, E> {
  readonly removed: RemovedPlace
}

const Restore = <Name extends string, E extends Failure>({
  close,
  done,
  form,
  removed,
  restore,
  what
}: RowProps<Name, E> & { readonly close: () => void }) => {
  const act = useAct()
  const name = useSignal(removed.name)
  const text = name.value.trim()
  const save = () => {
    if (form.is(text)) act.run(restore(removed.id, text === removed.name ? undefined : text), done)
  }
  return (
    <Dialog title={`Restore the ${what} ${removed.name}`} busy={act.isBusy} close={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          save()
        }}
      >
        <p>It comes back as it was. Whatever could read its secrets can read them again.</p>
        <TextField label="Name" text={name} hint="another one, if its own is in use" />
        <Problem failure={act.failure.value} />
        <footer>
          <button type="button" disabled={act.isBusy.value} onClick={close}>
            Cancel
          </button>
          <button class="primary" disabled={act.isBusy.value || !form.is(text)}>
            Restore
          </button>
        </footer>
      </form>
    </Dialog>
  )
}

const Erase = <Name extends string, E extends Failure>({
  close,
  done,
  erase,
  form,
  removed,
  what
}: RowProps<Name, E> & { readonly close: () => void }) => {
  const act = useAct()
  const { name } = removed
  return (
    <ConfirmByName
      title={`Erase the ${what} ${name} for good`}
      name={name}
      verb="Erase"
      busy={act.isBusy}
      close={close}
      confirm={() => {
        if (form.is(name)) act.run(erase(removed.id, name), done)
      }}
    >
      <p>
        All its secrets and their versions are erased. Nothing brings them back but a backup from before. It would be
        erased by itself at {exactly(removed.restorable_until)}.
      </p>
      <Problem failure={act.failure.value} />
    </ConfirmByName>
  )
}

const Row = <Name extends string, E extends Failure>(props: RowProps<Name, E>) => {
  const { removed, what } = props
  const open = useSignal<"restore" | "erase" | null>(null)
  const close = () => (open.value = null)
  const done = () => {
    close()
    props.done()
  }
  const about = <span class="hidden">{` the ${what} ${removed.name}`}</span>
  return (
    <tr>
      <th scope="row">
        {removed.name} {removed.protected === true && <span class="badge">protected</span>}
      </th>
      <td class="quiet">
        <By time={removed.removed_at} who={removed.removed_by} />
      </td>
      <td class="quiet">
        <Ahead time={removed.restorable_until} />
      </td>
      <td class="actions">
        <Menu label={`Actions for the removed ${what} ${removed.name}`}>
          <MenuItem run={() => (open.value = "restore")}>Restore…{about}</MenuItem>
          <MenuItem run={() => (open.value = "erase")}>Erase…{about}</MenuItem>
        </Menu>
        {open.value === "restore" && <Restore {...props} done={done} close={close} />}
        {open.value === "erase" && <Erase {...props} done={done} close={close} />}
      </td>
    </tr>
  )
}

/** The removed items, which can be restored, or erased before their time. Renders nothing if there are none. */
export const Removed = <Name extends string, E extends Failure>(props: RemovedProps<Name, E>) => {
  const found = useLoad(props.of, () => props.list)
  const { failure, value } = found.loaded.value
  const data = value?.data ?? []
  return data.length === 0 && failure === null ? null : (
    <>
      <h2>Removed</h2>
      <Problem failure={failure} retry={found.reload} />
      {data.length > 0 && (
        <Table label={`Removed ${props.what}s`} heads={["Name", "Removed", "Erased", ""]}>
          {data.map((removed) => (
            <Row
              key={removed.id}
              {...props}
              removed={removed}
              done={() => {
                found.reload()
                props.done()
              }}
            />
          ))}
        </Table>
      )}
    </>
  )
}
