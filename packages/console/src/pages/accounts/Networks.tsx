import { defined } from "@coffer/domain/base/Defined"
import type { OrgName } from "@coffer/domain/base/Names"
import type { ServiceAccount } from "@coffer/domain/directory/ServiceAccount"
import { useSignal } from "@preact/signals"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { Dialog } from "../../kit/Dialog.js"
import { DialogButtons } from "../../kit/DialogButtons.js"
import { TextArea } from "../../kit/TextArea.js"
import { noteDone } from "../../state/Done.js"

interface NetworksProps {
  readonly org: OrgName
  readonly account: ServiceAccount
  readonly close: () => void
  readonly changed: () => void
}

/** Changes the networks that an account may call from. */
export const Networks = ({ account, changed, close, org }: NetworksProps) => {
  const { allowed_networks: before = [], id, name } = account
  const text = useSignal(before.join("\n"))
  const act = useAct()
  const set = (networks: ReadonlyArray<string>, etag: string | undefined) =>
    call("serviceAccounts", (api) =>
      api.update({
        path: { org_name: org, sa_id: id },
        headers: defined({ "if-match": etag }),
        payload: { allowed_networks: networks.length === 0 ? null : networks }
      })
    )
  const end = () => {
    close()
    // Somebody else has changed them: the next form begins with those.
    if (act.failure.peek()?._tag === "Conflict") changed()
  }
  return (
    <Dialog title={`Networks of ${name}`} busy={act.isBusy} close={end}>
      <TextArea
        label="It may call from"
        text={text}
        rows={4}
        placeholder="10.20.0.0/16"
        hint="A network or an address a line, at most 20. Empty: from anywhere."
      />
      <p>From the next request on, its key and its sessions are unknown elsewhere.</p>
      <DialogButtons
        act={act}
        close={end}
        word="Save"
        kind="primary"
        decide={() => {
          const networks = text.value.split(/[\s,]+/).filter((network) => network !== "")
          act.run(set(networks, account.etag), ({ etag }) => {
            close()
            changed()
            const from = networks.length === 0 ? "anywhere" : networks.join(", ")
            noteDone(`${name} may call from ${from}.`, { effect: set(before, etag), done: changed })
          })
        }}
      />
    </Dialog>
  )
}
