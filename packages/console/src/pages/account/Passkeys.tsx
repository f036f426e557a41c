import { useSignal } from "@preact/signals"
import { type Passkey, PasskeyName } from "@coffer/domain/directory/Passkey"
import { passkeyNameForm } from "@coffer/domain/base/NameForms"
import * as Effect from "effect/Effect"
import { call } from "../../client/Calls.js"
import { register } from "../../client/PasskeyCeremonies.js"
import { useAct } from "../../kit/Act.js"
import { Dialog } from "../../kit/Dialog.js"
import { DialogButtons } from "../../kit/DialogButtons.js"
import { useLoad } from "../../kit/Load.js"
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
  const act = useAct()
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
        <button type="button" onClick={() => (isOpen.value = true)}>
          Remove<span class="hidden"> the passkey {name}</span>
        </button>
        {isOpen.value && (
          <Dialog title={`Remove the passkey ${name}`} busy={act.isBusy} close={() => (isOpen.value = false)}>
            <p>
              {name} proves nothing any more.
              {isLast &&
                " It is your last passkey: what needs a recent login asks for a code again, and you cannot vote where votes need a passkey."}
            </p>
            <DialogButtons
              act={act}
              close={() => (isOpen.value = false)}
              word="Remove"
              kind="danger"
              decide={() => {
                act.run(
                  call("passkeys", (api) => api.delete({ path: { passkey_id: id } })),
                  changed
                )
              }}
            />
          </Dialog>
        )}
      </td>
    </tr>
  )
}

const Register = ({ done }: { readonly done: () => void }) => {
  const name = useSignal("")
  const act = useAct()
  const text = name.value
  const isGood = passkeyNameForm.is(text)
  return (
    <form
      class="fields"
      onSubmit={(event) => {
        event.preventDefault()
        if (!isGood) return
        act.run(register(PasskeyName.make(text)), () => {
          name.value = ""
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
      <button disabled={act.isBusy.value || !isGood}>Register a passkey</button>
      <Problem failure={act.failure.value} />
    </form>
  )
}

/** The person's passkeys. */
export const Passkeys = () => {
  const passkeys = useLoad("passkeys", () => read)
  return (
    <>
      <h2>Passkeys</h2>
      <p>
        With a passkey, what needs a recent login asks for it, and no longer for a code. Register a second one on
        another device, in case you lose the first.
      </p>
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
      <Register done={passkeys.reload} />
    </>
  )
}
