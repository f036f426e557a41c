import type { OrgName } from "@coffer/domain/base/Names"
import type { ServiceAccount, ServiceAccountWithKey } from "@coffer/domain/directory/ServiceAccount"
import { Grace } from "@coffer/domain/directory/ServiceAccount"
import { useSignal } from "@preact/signals"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { Choose } from "../../kit/Choose.js"
import { DialogButtons } from "../../kit/DialogButtons.js"
import { Dialog } from "../../kit/Dialog.js"
import { NewKey } from "./NewKey.js"

const graces = { "not at all": 0, "1 hour": 3_600, "1 day": 86_400, "7 days": 604_800 } as const
type GraceWord = keyof typeof graces
const words: ReadonlyArray<GraceWord> = ["not at all", "1 hour", "1 day", "7 days"]

interface RotateKeyProps {
  readonly org: OrgName
  readonly account: ServiceAccount
  readonly close: () => void
  readonly changed: () => void
}

/** Gives an account a new key. The old one may stay valid for a while. */
export const RotateKey = ({ account, changed, close, org }: RotateKeyProps) => {
  const grace = useSignal<GraceWord>("1 day")
  const made = useSignal<ServiceAccountWithKey | null>(null)
  const act = useAct()
  return (
    <Dialog title={`New key for ${account.name}`} busy={act.isBusy} close={close}>
      {made.value === null ? (
        <>
          <Choose
            label="The old key stays valid"
            value={grace.value}
            words={words}
            choose={(word) => (grace.value = word)}
          />
          <p class="hint">Time to bring the new key to where the account runs.</p>
          <DialogButtons
            act={act}
            close={close}
            word="Rotate"
            kind="primary"
            decide={() => {
              act.run(
                call("serviceAccounts", (api) =>
                  api.rotate({
                    path: { org_name: org, sa_id: account.id },
                    payload: { grace_seconds: Grace.make(graces[grace.value]) }
                  })
                ),
                (next) => {
                  made.value = next
                  changed()
                }
              )
            }}
          />
        </>
      ) : (
        <NewKey account={made.value} />
      )}
    </Dialog>
  )
}
