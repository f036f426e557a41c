import type { OrgName } from "@coffer/domain/base/Names"
import { defaultFormat, type WebhookWithKey } from "@coffer/domain/server/Webhook"
import { useSignal } from "@preact/signals"
import * as Redacted from "effect/Redacted"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { Dialog } from "../../kit/Dialog.js"
import { OneTimeKey } from "../../kit/OneTimeKey.js"
import { Form } from "./Form.js"
import { keyHint } from "./Formats.js"

interface CreateProps {
  readonly org: OrgName
  readonly close: () => void
  readonly changed: () => void
}

/** Makes a webhook, and shows its key once. */
export const Create = ({ changed, close, org }: CreateProps) => {
  const made = useSignal<WebhookWithKey | null>(null)
  const webhook = made.value
  const act = useAct()
  return (
    <Dialog title="New webhook" busy={act.isBusy} close={close}>
      {webhook === null ? (
        <Form
          verb="Create"
          from={{ url: "", events: ["secret.*"], environments: ["*"], format: defaultFormat }}
          act={act}
          close={close}
          submit={(payload) => {
            act.run(
              call("webhooks", (api) => api.create({ path: { org_name: org }, payload })),
              (next) => {
                made.value = next
                changed()
              }
            )
          }}
        />
      ) : (
        <OneTimeKey
          of="the webhook"
          text={Redacted.value(webhook.signing_key)}
          stored={keyHint(webhook.format)}
          revoke={{
            word: "Delete the webhook",
            effect: call("webhooks", (api) => api.delete({ path: { org_name: org, webhook_id: webhook.id } })),
            done: changed
          }}
        />
      )}
    </Dialog>
  )
}
