import { isReason, reasonForm } from "@coffer/domain/base/ReasonForm"
import type { Permission } from "@coffer/domain/access/AclRule"
import type { EnvName, OrgName, ProjectName } from "@coffer/domain/base/Names"
import { useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { Dialog } from "../../kit/Dialog.js"
import { DialogButtons } from "../../kit/DialogButtons.js"
import { TextField } from "../../kit/TextField.js"
import { noteDone } from "../../state/Done.js"

interface ReviewProps {
  readonly org: OrgName
  readonly project: ProjectName
  readonly envs: ReadonlyArray<EnvName>
  readonly permission: Permission
  readonly close: () => void
  readonly done: () => void
}

/** Records in the audit log that the person has reviewed who can. */
export const Review = ({ close, done, envs, org, permission, project }: ReviewProps) => {
  const act = useAct()
  const note = useSignal("")
  const text = note.value.trim()
  const isBad = text !== "" && !isReason(text)
  const record = Effect.forEach(
    envs,
    (env) =>
      call("acl", (api) =>
        api.review({
          path: { org_name: org, project_name: project, env_name: env },
          payload: { permission, ...(text !== "" && { note: text }) }
        })
      ),
    { discard: true }
  )
  return (
    <Dialog title="Record a review" busy={act.isBusy} close={close}>
      <p>
        The audit log gets an entry for {envs.join(", ")}: that you reviewed who has <strong>{permission}</strong>, and
        how many they were.
      </p>
      <TextField
        label="Note (optional)"
        text={note}
        maxLength={reasonForm.maxLength}
        placeholder="quarterly review"
        isBad={isBad}
        hint={isBad ? `It ${reasonForm.message}.` : "The audit log shows it."}
      />
      <DialogButtons
        act={act}
        close={close}
        word="Record"
        kind="primary"
        isDisabled={isBad}
        decide={() => {
          act.run(record, () => {
            close()
            done()
            noteDone("The review is recorded.")
          })
        }}
      />
    </Dialog>
  )
}
