import type { OrgName } from "@coffer/domain/base/Names"
import { defaultFormat, originOf, pathOf, type Webhook } from "@coffer/domain/server/Webhook"
import { useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { ConfirmButton } from "../../kit/Confirm.js"
import { ConfirmByName } from "../../kit/ConfirmByName.js"
import { useLoad } from "../../kit/Load.js"
import { usePoll } from "../../kit/Poll.js"
import { Problem } from "../../kit/Problem.js"
import { Reading } from "../../kit/Reading.js"
import { Table } from "../../kit/Table.js"
import { Ahead, When } from "../../kit/When.js"
import type { PageProps } from "../PageProps.js"
import { Create } from "./Create.js"
import { Deliveries } from "./Deliveries.js"
import { Edit } from "./Edit.js"
import { RotateSigningKey } from "./RotateSigningKey.js"
import "./Page.css"

/** How often the states are read. */
const pollMillis = 15_000

const read = (org: OrgName) =>
  Effect.map(
    call("webhooks", (api) => api.list({ path: { org_name: org } })),
    ({ data }) => data
  )

/** Since when deliveries fail, how, and when the next try is. */
const Failing = ({ next_try_at, reason, since, status, tries }: NonNullable<Webhook["failing"]>) => (
  <>
    <span class="badge bad">failing</span> since <When time={since} />
    <span class="quiet">
      , {status === null ? (reason ?? "no response") : `status ${status}`}, {tries} {tries === 1 ? "try" : "tries"}
      {next_try_at !== null && (
        <>
          , next try <Ahead time={next_try_at} />
        </>
      )}
    </span>
  </>
)

const State = ({ webhook: { enabled, failed_at, failing, old_key_until, pending } }: { readonly webhook: Webhook }) => (
  <>
    {enabled && failing !== undefined ? (
      <Failing {...failing} />
    ) : enabled ? (
      <span class="badge good">enabled</span>
    ) : failed_at === null ? (
      <span class="badge">disabled</span>
    ) : (
      <>
        <span class="badge bad">failed</span> <When time={failed_at} />
      </>
    )}
    {pending > 0 && <span class="quiet"> {pending}&nbsp;pending</span>}
    {old_key_until !== null && (
      <div class="quiet">
        the replaced key signs too, and ends <Ahead time={old_key_until} />
      </div>
    )}
  </>
)

interface RowProps {
  readonly org: OrgName
  readonly webhook: Webhook
  readonly changed: () => void
}

const Row = ({ changed, org, webhook }: RowProps) => {
  const { enabled, environments, events, format = defaultFormat, id, url } = webhook
  const open = useSignal<"deliveries" | "edit" | "rotate" | "delete" | null>(null)
  const act = useAct()
  const path = { org_name: org, webhook_id: id }
  const origin = originOf(url)
  const target = pathOf(url)
  const address = origin + target
  const close = () => {
    open.value = null
  }
  return (
    <tr>
      <th scope="row" class="webhooks-address">
        {origin}
        <span class="quiet">{target}</span> {format !== defaultFormat && <span class="badge">{format}</span>}
      </th>
      <td>{events.join(" ")}</td>
      <td>{environments.join(" ")}</td>
      <td>
        <State webhook={webhook} />
        <Problem failure={act.failure.value} />
      </td>
      <td class="actions">
        <button type="button" onClick={() => (open.value = "deliveries")}>
          Deliveries<span class="hidden"> to {address}</span>
        </button>
        <button type="button" onClick={() => (open.value = "edit")}>
          Edit<span class="hidden"> {address}</span>
        </button>
        {enabled ? (
          <ConfirmButton
            label={
              <>
                Disable<span class="hidden"> {address}</span>
              </>
            }
            title="Disable a webhook"
            verb="Disable"
            effect={call("webhooks", (api) => api.update({ path, headers: {}, payload: { enabled: false } }))}
            done={changed}
          >
            <p>
              No more events are sent to {address} until it is enabled again. What happens meanwhile is sent when it is.
            </p>
          </ConfirmButton>
        ) : (
          <button
            type="button"
            disabled={act.isBusy.value}
            onClick={() => {
              act.run(
                call("webhooks", (api) => api.update({ path, headers: {}, payload: { enabled: true } })),
                changed
              )
            }}
          >
            Enable<span class="hidden"> {address}</span>
          </button>
        )}
        <button type="button" onClick={() => (open.value = "rotate")}>
          Rotate<span class="hidden"> the key of {address}</span>
        </button>
        <button type="button" onClick={() => (open.value = "delete")}>
          Delete<span class="hidden"> {address}</span>
        </button>
        {open.value === "deliveries" && <Deliveries org={org} webhook={webhook} close={close} />}
        {open.value === "edit" && <Edit org={org} webhook={webhook} close={close} changed={changed} />}
        {open.value === "rotate" && <RotateSigningKey org={org} webhook={webhook} close={close} />}
        {open.value === "delete" && (
          <ConfirmByName
            title="Delete a webhook"
            name={origin}
            verb="Delete"
            busy={act.isBusy}
            close={close}
            confirm={() => {
              act.run(
                call("webhooks", (api) => api.delete({ path })),
                changed
              )
            }}
          >
            <p>No more events are sent to it, and its signing keys are gone.</p>
            <Problem failure={act.failure.value} />
          </ConfirmByName>
        )}
      </td>
    </tr>
  )
}

/** The HTTP endpoints that receive the events of an organization. */
export const Page = ({ place: { org } }: PageProps<"org">) => {
  const webhooks = useLoad(org, () => read(org))
  const isOpen = useSignal(false)
  // A delivery fails, and arrives again, while the page is open.
  usePoll(webhooks, pollMillis)
  return (
    <section class="wide-page">
      <h1>Webhooks</h1>
      <p>
        Events are sent to an address as signed requests: names and versions, never values.{" "}
        <button type="button" class="primary" onClick={() => (isOpen.value = true)}>
          New webhook
        </button>
      </p>
      {isOpen.value && <Create org={org} close={() => (isOpen.value = false)} changed={webhooks.reload} />}
      <Reading of={webhooks}>
        {(found) =>
          found.length === 0 ? (
            <p class="quiet">There are no webhooks yet.</p>
          ) : (
            <Table label="Webhooks" heads={["Address", "Events", "Environments", "State", ""]}>
              {found.map((webhook) => (
                <Row key={webhook.id} org={org} webhook={webhook} changed={webhooks.reload} />
              ))}
            </Table>
          )
        }
      </Reading>
    </section>
  )
}
