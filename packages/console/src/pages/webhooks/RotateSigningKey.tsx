import type { OrgName } from "@coffer/domain/base/Names"
import { originOf, type Webhook, type WebhookWithKey } from "@coffer/domain/server/Webhook"
import { useSignal } from "@preact/signals"
import * as Redacted from "effect/Redacted"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { Dialog } from "../../kit/Dialog.js"
import { OneTimeKey } from "../../kit/OneTimeKey.js"
import { Problem } from "../../kit/Problem.js"
import { keyHint } from "./Formats.js"

interface RotateProps {
  readonly org: OrgName
  readonly webhook: Webhook
  readonly close: () => void
}

/** Gives a webhook a new signing key. The old one signs too for a day. */
export const RotateSigningKey = ({ close, org, webhook }: RotateProps) => {
  const made = useSignal<WebhookWithKey | null>(null)
  const act = useAct()
  const path = { org_name: org, webhook_id: webhook.id }
  return (
    <Dialog title={`New signing key for ${originOf(webhook.url)}`} busy={act.isBusy} close={close}>
      {made.value === null ? (
        <>
          <p>Deliveries are signed with both keys for a day: time to bring the new one to the receiver.</p>
          <Problem failure={act.failure.value} />
          <footer>
            <button type="button" disabled={act.isBusy.value} onClick={close}>
              Cancel
            </button>
            <button
              type="button"
              class="primary"
              disabled={act.isBusy.value}
              onClick={() => {
                act.run(
                  call("webhooks", (api) => api.rotateKey({ path, payload: {} })),
                  (next) => (made.value = next)
                )
              }}
            >
              Rotate
            </button>
          </footer>
        </>
      ) : (
        <OneTimeKey
          of="the webhook"
          text={Redacted.value(made.value.signing_key)}
          stored={keyHint(made.value.format)}
        />
      )}
    </Dialog>
  )
}
