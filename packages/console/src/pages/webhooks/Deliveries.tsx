import type { OrgName } from "@coffer/domain/base/Names"
import { defaultFormat, originOf, pathOf, type Webhook, type WebhookDelivery } from "@coffer/domain/server/Webhook"
import { maxPageSize } from "@coffer/domain/base/Schemas"
import { useSignal } from "@preact/signals"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { Dialog } from "../../kit/Dialog.js"
import { useLoad } from "../../kit/Load.js"
import { usePoll } from "../../kit/Poll.js"
import { Problem } from "../../kit/Problem.js"
import { Reading } from "../../kit/Reading.js"
import { Table } from "../../kit/Table.js"
import { When } from "../../kit/When.js"
import { Visible } from "../../kit/Visible.js"

/** How often the list is read: a delivery that was asked for leaves within a second. */
const pollMillis = 2_000

/** How many deliveries are shown at first. */
const firstCount = 20

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

/** The request, and beside it its outcome. The body holds names and versions; a response's body is not kept. */
const Pair = ({
  delivery: { event, kind, reason, status, tries, updated_at },
  isChat
}: Pick<RowProps, "delivery" | "isChat">) => (
  <div class="webhooks-pair">
    <section>
      <h3>{isChat ? "Event, which is sent as a message" : "Body"}</h3>
      <pre>
        <Visible text={JSON.stringify(event, null, 2)} />
      </pre>
    </section>
    <section>
      <h3>Response</h3>
      <dl class="facts">
        <dt>Status</dt>
        <dd>{status ?? "none"}</dd>
        {reason !== null && status === null && (
          <>
            <dt>Reason</dt>
            <dd>{reason}</dd>
          </>
        )}
        <dt>Tries</dt>
        <dd>{tries}</dd>
        <dt>Sent as</dt>
        <dd>{kind}</dd>
        <dt>Last change</dt>
        <dd>
          <When time={updated_at} />
        </dd>
      </dl>
    </section>
  </div>
)

interface RowProps {
  readonly delivery: WebhookDelivery
  /** Whether the receiver gets a message in place of the event. */
  readonly isChat: boolean
  readonly again: () => void
}

const Row = ({ again, delivery, isChat }: RowProps) => {
  const isOpen = useSignal(false)
  return (
    <>
      <tr>
        <th scope="row">
          <button
            type="button"
            class="plain"
            aria-expanded={isOpen.value}
            onClick={() => (isOpen.value = !isOpen.value)}
          >
            <span aria-hidden="true">{isOpen.value ? "▾" : "▸"}</span> {delivery.event.event}
          </button>
        </th>
        <td class="webhooks-place">{placeOf(delivery)}</td>
        <td class="quiet">
          <When time={delivery.event.time} />
        </td>
        <td class="webhooks-outcome">
          {outcome(delivery)}
          {delivery.tries > 0 && delivery.next_try_at !== null && (
            <span class="quiet">
              , again at <time dateTime={delivery.next_try_at}>{minuteOf(delivery.next_try_at)}</time>
            </span>
          )}
        </td>
        <td class="actions">
          <button type="button" onClick={again}>
            Send again<span class="hidden"> {delivery.event.event}</span>
          </button>
        </td>
      </tr>
      {isOpen.value && (
        <tr>
          <td colSpan={5} class="webhooks-shown">
            <Pair delivery={delivery} isChat={isChat} />
          </td>
        </tr>
      )}
    </>
  )
}

/** The deliveries to a webhook, with their outcomes. */
export const Deliveries = ({ close, org, webhook }: DeliveriesProps) => {
  const path = { org_name: org, webhook_id: webhook.id }
  const limit = useSignal(firstCount)
  const found = useLoad(webhook.id, () =>
    call("webhooks", (api) => api.deliveries({ path, urlParams: { limit: limit.peek() } }))
  )
  const act = useAct()
  usePoll(found, pollMillis)
  return (
    <Dialog title={`Deliveries to ${originOf(webhook.url)}${pathOf(webhook.url)}`} close={close} class="drawer wide">
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
        {({ data, pagination }) =>
          data.length === 0 ? (
            <p class="quiet">Nothing was sent in the last 30 days.</p>
          ) : (
            <>
              <Table label="Deliveries" heads={["Event", "Where", "When", "Outcome", ""]}>
                {data.map((delivery) => (
                  <Row
                    key={delivery.id}
                    delivery={delivery}
                    isChat={webhook.format !== undefined && webhook.format !== defaultFormat}
                    again={() => {
                      act.run(
                        call("webhooks", (api) => api.sendAgain({ path: { ...path, delivery_id: delivery.id } })),
                        found.reload
                      )
                    }}
                  />
                ))}
              </Table>
              {pagination.has_next && data.length >= maxPageSize && (
                <p class="quiet">
                  The newest {maxPageSize}: <code>coffer webhook deliveries</code> lists all.
                </p>
              )}
              {pagination.has_next && data.length < maxPageSize && (
                <p>
                  <button
                    type="button"
                    disabled={data.length < limit.value}
                    onClick={() => {
                      limit.value = maxPageSize
                      found.reload()
                    }}
                  >
                    Older deliveries
                  </button>
                </p>
              )}
            </>
          )
        }
      </Reading>
    </Dialog>
  )
}
