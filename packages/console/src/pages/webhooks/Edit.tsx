import { defined } from "@coffer/domain/base/Defined"
import type { OrgName } from "@coffer/domain/base/Names"
import { defaultFormat, originOf, type Webhook, webhookFormats } from "@coffer/domain/server/Webhook"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { Dialog } from "../../kit/Dialog.js"
import { noteDone } from "../../state/Done.js"
import { Form, type Subscription } from "./Form.js"

interface EditProps {
  readonly org: OrgName
  readonly webhook: Webhook
  readonly close: () => void
  readonly changed: () => void
}

/** Changes where a webhook is sent, and what. */
export const Edit = ({ changed, close, org, webhook }: EditProps) => {
  const act = useAct()
  const path = { org_name: org, webhook_id: webhook.id }
  const { environments, etag, events, url } = webhook
  const format = webhookFormats.find((one) => one === webhook.format) ?? defaultFormat
  const before: Subscription = { url, events, environments, format }
  const set = (payload: Subscription, match: string | undefined) =>
    call("webhooks", (api) => api.update({ path, headers: defined({ "if-match": match }), payload }))
  const end = () => {
    close()
    // Somebody else has changed it: the next form begins with that.
    if (act.failure.peek()?._tag === "Conflict") changed()
  }
  return (
    <Dialog title={`Webhook to ${originOf(webhook.url)}`} busy={act.isBusy} close={end}>
      <Form
        verb="Save"
        from={before}
        act={act}
        close={end}
        submit={(payload) => {
          act.run(set(payload, etag), (saved) => {
            close()
            changed()
            noteDone(`The webhook to ${originOf(payload.url)} was changed.`, {
              effect: set(before, saved.etag),
              done: changed
            })
          })
        }}
      />
    </Dialog>
  )
}
