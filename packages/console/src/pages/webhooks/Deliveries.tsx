import type { OrgName } from "@coffer/domain/Names"
import { originOf, type Webhook, type WebhookDelivery } from "@coffer/domain/Webhook"
import { useEffect } from "preact/hooks"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { Dialog } from "../../kit/Dialog.js"
import { useLoad } from "../../kit/Load.js"
import { Problem } from "../../kit/Problem.js"
import { Reading } from "../../kit/Reading.js"
import { Table } from "../../kit/Table.js"
import { When } from "../../kit/When.js"

/** How often the list is read: a delivery that was asked for leaves within a second. */
const pollMillis = 2_000

interface DeliveriesProps {
  readonly org: OrgName
  readonly webhook: Webhook
  readonly close: () => void
}

const outcome = ({ reason, state, status }: WebhookDelivery): string =>
  status === null ? (reason === null ? state : `${state}: ${reason}`) : `${state}: status ${status}`

const minuteOf = (time: string): string => `${time.slice(0, 16).replace("T", " ")} UTC`

const placeOf = ({ event: { environment, key, project, subject } }: WebhookDelivery): string =>
  [project, environment, key ?? subject].filter((name) => name !== null).join("/")

const Row = ({ again, delivery }: { readonly delivery: WebhookDelivery; readonly again: () => void }) => (
  <tr>
    <th scope="row">
      <details class="more">
        <summary>{delivery.event.event}</summary>
        <pre>{JSON.stringify(delivery.event, null, 2)}</pre>
      </details>
    </th>
    <td>{placeOf(delivery)}</td>
    <td class="quiet">
      <When time={delivery.event.time} />
    </td>
    <td>
      {outcome(delivery)}
      {delivery.tries > 0 && delivery.next_try_at !== null && (
        <span class="quiet">
          , again at <time dateTime={delivery.next_try_at}>{minuteOf(delivery.next_try_at)}</time>
        </span>
      )}
    </td>
    <td>{delivery.tries}</td>
    <td class="actions">
      <button type="button" onClick={again}>
        Send again<span class="hidden"> {delivery.event.event}</span>
      </button>
    </td>
  </tr>
)

/** What was sent to a webhook, and what came of it. */
export const Deliveries = ({ close, org, webhook }: DeliveriesProps) => {
  const path = { org_name: org, webhook_id: webhook.id }
  const found = useLoad(webhook.id, () => call("webhooks", (api) => api.deliveries({ path, urlParams: {} })))
  const act = useAct()
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden && !found.loaded.peek().isLoading) found.reload()
    }, pollMillis)
    return () => {
      clearInterval(timer)
    }
  }, [webhook.id])
  return (
    <Dialog title={`Deliveries to ${originOf(webhook.url)}`} close={close} class="wide">
      <p>
        <button
          type="button"
          disabled={act.isBusy.value}
          onClick={() => {
            act.run(
              call("webhooks", (api) => api.test({ path })),
              found.reload
            )
          }}
        >
          Send a test
        </button>
      </p>
      <Problem failure={act.failure.value} />
      <Reading of={found}>
        {({ data }) =>
          data.length === 0 ? (
            <p class="quiet">Nothing was sent in the last 30 days.</p>
          ) : (
            <Table label="Deliveries" heads={["Event", "Where", "When", "Outcome", "Tries", ""]}>
              {data.map((delivery) => (
                <Row
                  key={delivery.id}
                  delivery={delivery}
                  again={() => {
                    act.run(
                      call("webhooks", (api) => api.sendAgain({ path: { ...path, delivery_id: delivery.id } })),
                      found.reload
                    )
                  }}
                />
              ))}
            </Table>
          )
        }
      </Reading>
    </Dialog>
  )
}
