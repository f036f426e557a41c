import type { OrgName } from "@coffer/domain/Names"
import type { WebhookWithKey } from "@coffer/domain/Webhook"
import { useSignal } from "@preact/signals"
import { Redacted } from "effect"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { Dialog } from "../../kit/Dialog.js"
import { OneTimeKey } from "../../kit/OneTimeKey.js"
import { Problem } from "../../kit/Problem.js"
import { TextField } from "../../kit/TextField.js"

/** The words of a text, which commas or spaces separate. */
export const wordsOf = (text: string): ReadonlyArray<string> => text.split(/[\s,]+/).filter((word) => word !== "")

export const stored = "Coffer stores it encrypted. Give it to the receiver, which checks deliveries with it."

interface CreateProps {
  readonly org: OrgName
  readonly close: () => void
  readonly changed: () => void
}

/** Makes a webhook, and shows its key once. */
export const Create = ({ changed, close, org }: CreateProps) => {
  const url = useSignal("")
  const events = useSignal("secret.*")
  const environments = useSignal("*")
  const made = useSignal<WebhookWithKey | null>(null)
  const act = useAct()
  const submit = (event: Event) => {
    event.preventDefault()
    const payload = { url: url.value, events: wordsOf(events.value), environments: wordsOf(environments.value) }
    act.run(
      call("webhooks", (api) => api.create({ path: { org_name: org }, payload })),
      (webhook) => {
        made.value = webhook
        changed()
      }
    )
  }
  return (
    <Dialog title="New webhook" close={close}>
      {made.value === null ? (
        <form onSubmit={submit}>
          <TextField label="Address" text={url} placeholder="https://hooks.example.com/coffer" maxLength={500} />
          <TextField
            label="Events"
            text={events}
            hint="Names such as secret.set, groups such as secret.* or member.*, or *, separated by spaces."
          />
          <TextField label="Environments" text={environments} hint="Names or patterns such as prod or webshop/*." />
          <Problem failure={act.failure.value} />
          <footer>
            <button type="button" onClick={close}>
              Cancel
            </button>
            <button class="primary" disabled={act.isBusy.value || url.value === ""}>
              Create
            </button>
          </footer>
        </form>
      ) : (
        <OneTimeKey of="the webhook" text={Redacted.value(made.value.signing_key)} stored={stored} />
      )}
    </Dialog>
  )
}
