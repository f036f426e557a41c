import { isReason, reasonForm } from "@coffer/domain/base/ReasonForm"
import { useSignal } from "@preact/signals"
import type { ComponentChildren } from "preact"
import type { Action } from "../../kit/Act.js"
import { Dialog } from "../../kit/Dialog.js"
import { DialogButtons } from "../../kit/DialogButtons.js"
import { TextField } from "../../kit/TextField.js"

interface VoteProps {
  readonly act: Action
  /** Whose request it is. */
  readonly of: string
  /** Whether whoever asked can be told why. */
  readonly hasComment?: boolean
  readonly approve: (comment: string | undefined) => void
  readonly refuse: (comment: string | undefined) => void
  /** The consequences of a refusal. */
  readonly children: ComponentChildren
}

/** The buttons of whoever decides on a request. A refusal is final: it asks first. */
export const Vote = ({ act, approve, children, hasComment = false, of, refuse }: VoteProps) => {
  const comment = useSignal("")
  const isRefusing = useSignal(false)
  const text = comment.value.trim()
  const isBad = text !== "" && !isReason(text)
  const field = hasComment && (
    <TextField
      label="Comment (optional)"
      text={comment}
      maxLength={reasonForm.maxLength}
      placeholder="not before the release"
      isBad={isBad}
      hint={isBad ? `It ${reasonForm.message}.` : `${of} and the audit log get it.`}
    />
  )
  const given = text === "" || !hasComment ? undefined : text
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
      }}
    >
      {!isRefusing.value && field}
      <div class="row">
        <button
          type="button"
          class="primary"
          disabled={act.isBusy.value || isBad}
          onClick={() => {
            approve(given)
          }}
        >
          Approve<span class="hidden"> the request of {of}</span>
        </button>
        <button type="button" disabled={act.isBusy.value || isBad} onClick={() => (isRefusing.value = true)}>
          Refuse<span class="hidden"> the request of {of}</span>
        </button>
      </div>
      {isRefusing.value && (
        <Dialog
          title={`Refuse the request of ${of}`}
          busy={act.isBusy}
          close={() => {
            isRefusing.value = false
          }}
        >
          {children}
          {field}
          <DialogButtons
            act={act}
            close={() => (isRefusing.value = false)}
            word="Refuse"
            kind="danger"
            isDisabled={isBad}
            decide={() => {
              refuse(given)
            }}
          />
        </Dialog>
      )}
    </form>
  )
}
