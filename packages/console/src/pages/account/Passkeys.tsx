import { useSignal } from "@preact/signals"
import { type Passkey, PasskeyName } from "@coffer/domain/directory/Passkey"
import { passkeyNameForm } from "@coffer/domain/base/NameForms"
import * as Effect from "effect/Effect"
import { call } from "../../client/Calls.js"
import { register } from "../../client/PasskeyCeremonies.js"
import { useAct } from "../../kit/Act.js"
import { Confirm } from "../../kit/Confirm.js"
import { Dialog } from "../../kit/Dialog.js"
import { PageHead } from "../../kit/ListPage.js"
import { useLoad } from "../../kit/Load.js"
import { Menu, MenuItem } from "../../kit/Menu.js"
import { Problem } from "../../kit/Problem.js"
import { Reading } from "../../kit/Reading.js"
import { Table } from "../../kit/Table.js"
import { TextField } from "../../kit/TextField.js"
import { When } from "../../kit/When.js"

const read = Effect.map(
  Effect.suspend(() => call("passkeys", (api) => api.list())),
  ({ data }) => data
)

interface RowProps {
  readonly passkey: Passkey
  readonly isLast: boolean
  readonly changed: () => void
}

const Row = ({ changed, isLast, passkey }: RowProps) => {
  const isOpen = useSignal(false)
  const { created_at, id, last_used_at, name } = passkey
  return (
    <tr>
      <th scope="row">{name}</th>
      <td class="quiet">
        <When time={created_at} />
      </td>
      <td class="quiet">{last_used_at === null ? "never" : <When time={last_used_at} />}</td>
      <td class="actions">
        <Menu label={`Actions for the passkey ${name}`}>
          <MenuItem run={() => (isOpen.value = true)}>
            Remove<span class="hidden"> the passkey {name}</span>
          </MenuItem>
        </Menu>
        {isOpen.value && (
          <Confirm
            title={`Remove the passkey ${name}`}
            verb="Remove"
            effect={call("passkeys", (api) => api.delete({ path: { passkey_id: id } }))}
            close={() => (isOpen.value = false)}
            done={changed}
          >
            <p>
              {name} proves nothing any more.
              {isLast &&
                " It is your last passkey: what needs a recent login asks for a code again, and you cannot vote where votes need a passkey."}
            </p>
          </Confirm>
        )}
      </td>
    </tr>
  )
}

const Register = ({ close, done }: { readonly close: () => void; readonly done: () => void }) => {
  const name = useSignal("")
  const act = useAct()
  const text = name.value
  const isGood = passkeyNameForm.is(text)
  return (
    <Dialog title="Register a passkey" busy={act.isBusy} close={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (!isGood) return
          act.run(register(PasskeyName.make(text)), () => {
            close()
            done()
          })
        }}
      >
        <TextField
          label="Name of the passkey"
          text={name}
          placeholder="adas-laptop"
          maxLength={passkeyNameForm.maxLength}
          isBad={text !== "" && !isGood}
          hint={text !== "" && !isGood ? `${passkeyNameForm.characters}.` : undefined}
        />
        <Problem failure={act.failure.value} />
        <footer>
          <button type="button" disabled={act.isBusy.value} onClick={close}>
            Cancel
          </button>
          <button class="primary" disabled={act.isBusy.value || !isGood}>
            Register
          </button>
        </footer>
      </form>
    </Dialog>
  )
}

/** The person's passkeys. */
export const Passkeys = () => {
  const passkeys = useLoad("passkeys", () => read)
  const isOpen = useSignal(false)
  return (
    <>
      <PageHead
        isSection
        title="Passkeys"
        about="With a passkey, what needs a recent login asks for it, and no longer for a code. Register a second one on another device, in case you lose the first."
        create={
          <button type="button" onClick={() => (isOpen.value = true)}>
            Register a passkey
          </button>
        }
      />
      {isOpen.value && <Register close={() => (isOpen.value = false)} done={passkeys.reload} />}
      <Reading of={passkeys}>
        {(found) =>
          found.length === 0 ? (
            <p class="quiet">There are none.</p>
          ) : (
            <Table label="Passkeys" heads={["Name", "Since", "Last used", ""]}>
              {found.map((passkey) => (
                <Row key={passkey.id} passkey={passkey} isLast={found.length === 1} changed={passkeys.reload} />
              ))}
            </Table>
          )
        }
      </Reading>
    </>
  )
}
