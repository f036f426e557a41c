import { type WebhookFormat, webhookFormats } from "@coffer/domain/server/Webhook"
import { useSignal } from "@preact/signals"
import type { Action } from "../../kit/Act.js"
import { Choose } from "../../kit/Choose.js"
import { Problem } from "../../kit/Problem.js"
import { TextField } from "../../kit/TextField.js"
import { formatHint } from "./Formats.js"

/** The events that a webhook receives, with its address and format. */
export interface Subscription {
  readonly url: string
  readonly events: ReadonlyArray<string>
  readonly environments: ReadonlyArray<string>
  readonly format: WebhookFormat
}

/** The words of a text, which commas or spaces separate. */
const wordsOf = (text: string): ReadonlyArray<string> => text.split(/[\s,]+/).filter((word) => word !== "")

interface FormProps {
  readonly verb: "Create" | "Save"
  readonly from: Subscription
  readonly act: Action
  readonly close: () => void
  readonly submit: (given: Subscription) => void
}

/** The address of a webhook, its events and their environments. */
export const Form = ({ act, close, from, submit, verb }: FormProps) => {
  const url = useSignal(from.url)
  const events = useSignal(from.events.join(" "))
  const environments = useSignal(from.environments.join(" "))
  const format = useSignal(from.format)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        submit({
          url: url.value.trim(),
          events: wordsOf(events.value),
          environments: wordsOf(environments.value),
          format: format.value
        })
      }}
    >
      <TextField label="Address" text={url} placeholder="https://hooks.example.com/coffer" maxLength={500} />
      <TextField
        label="Events"
        text={events}
        hint="Names such as secret.set, groups such as secret.* or member.*, or *, separated by spaces."
      />
      <TextField label="Environments" text={environments} hint="Names or patterns such as prod or webshop/*." />
      <Choose label="Format" value={format.value} words={webhookFormats} choose={(word) => (format.value = word)} />
      <p class="hint">{formatHint(format.value)}</p>
      <Problem failure={act.failure.value} />
      <footer>
        <button type="button" disabled={act.isBusy.value} onClick={close}>
          Cancel
        </button>
        <button class="primary" disabled={act.isBusy.value || url.value.trim() === ""}>
          {verb}
        </button>
      </footer>
    </form>
  )
}
