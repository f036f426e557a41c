import type { OrgName } from "@coffer/domain/base/Names"
import { defaultFormat, originOf, pathOf, type Webhook } from "@coffer/domain/server/Webhook"
import { useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import { call } from "../../client/Calls.js"
import { missingInOrg } from "../../client/Organizations.js"
import { useAct } from "../../kit/Act.js"
import { Confirm } from "../../kit/Confirm.js"
import { DeleteDialog } from "../../kit/Delete.js"
import { Empty, ListPage, NewButton } from "../../kit/ListPage.js"
import { useLoad } from "../../kit/Load.js"
import { Menu, MenuItem } from "../../kit/Menu.js"
import { useOpened } from "../../kit/Opened.js"
import { usePoll } from "../../kit/Poll.js"
import { Problem } from "../../kit/Problem.js"
import { exactly } from "../../kit/Exactly.js"
import { Ahead } from "../../kit/When.js"
import { Link } from "../../routing/Link.js"
import { noteDone } from "../../state/Done.js"
import { wallMillis } from "../../state/ServerTime.js"
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

/** The time of a day, such as `12:44`, after the date if that is another one. */
const Clock = ({ time }: { readonly time: string }) => {
  const text = exactly(time).replace(/:\d\d(?= UTC)/, "")
  const today = new Date(wallMillis()).toISOString().slice(0, 10)
  return (
    <time dateTime={time} data-exact={exactly(time)}>
      {text.startsWith(today) ? text.slice(11) : text}
    </time>
  )
}

/** Since when deliveries fail, how, and when the next try is. */
const Failing = ({ next_try_at, reason, since, status }: NonNullable<Webhook["failing"]>) => (
  <>
    <span class="badge warn">failing</span> since <Clock time={since} /> · {status ?? reason ?? "no response"} ·{" "}
    {next_try_at === null ? (
      "no further try"
    ) : (
      <>
        next try <Clock time={next_try_at} />
      </>
    )}
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
        <span class="badge warn">failed</span> <Clock time={failed_at} />
      </>
    )}
    {pending > 0 && <div class="quiet">{pending.toLocaleString("en")} pending</div>}
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
  /** Opens the deliveries. */
  readonly show: () => void
}

const Row = ({ changed, org, show, webhook }: RowProps) => {
  const { enabled, environments, events, format = defaultFormat, id, url } = webhook
  const open = useSignal<"delete" | "disable" | "edit" | "rotate" | null>(null)
  const act = useAct()
  const path = { org_name: org, webhook_id: id }
  const origin = originOf(url)
  const target = pathOf(url)
  const address = origin + target
  const close = () => {
    open.value = null
  }
  const enable = (enabled: boolean) =>
    call("webhooks", (api) => api.update({ path, headers: {}, payload: { enabled } }))
  const whyNotChange = missingInOrg(org, "webhook.update")
  return (
    <tr>
      <th scope="row" class="webhooks-address">
        <Link to={`?webhook=${id}`} class="row-link" open={show}>
          {origin}
          <span class="quiet">{target}</span>
        </Link>{" "}
        {format !== defaultFormat && <span class="badge">{format}</span>}
      </th>
      <td>
        <State webhook={webhook} />
        <Problem failure={act.failure.value} />
      </td>
      <td>
        <span class="key">{events.join(" ")}</span>
      </td>
      <td>
        <span class="key">{environments.join(" ")}</span>
      </td>
      <td class="actions">
        <Menu label={`Actions for ${address}`}>
          <MenuItem run={show}>
            Deliveries<span class="hidden"> to {address}</span>
          </MenuItem>
          <MenuItem run={() => (open.value = "edit")} why={whyNotChange}>
            Edit<span class="hidden"> {address}</span>
          </MenuItem>
          {enabled ? (
            <MenuItem run={() => (open.value = "disable")} why={whyNotChange}>
              Disable<span class="hidden"> {address}</span>
            </MenuItem>
          ) : (
            <MenuItem
              run={() => {
                act.run(enable(true), () => {
                  noteDone(`${address} is enabled again.`, { effect: enable(false), done: changed })
                  changed()
                })
              }}
              why={whyNotChange}
            >
              Enable<span class="hidden"> {address}</span>
            </MenuItem>
          )}
          <MenuItem run={() => (open.value = "rotate")} why={whyNotChange}>
            Rotate<span class="hidden"> the key of {address}</span>
          </MenuItem>
          <MenuItem run={() => (open.value = "delete")} why={missingInOrg(org, "webhook.delete")}>
            Delete<span class="hidden"> {address}</span>
          </MenuItem>
        </Menu>
        {open.value === "edit" && <Edit org={org} webhook={webhook} close={close} changed={changed} />}
        {open.value === "rotate" && <RotateSigningKey org={org} webhook={webhook} close={close} />}
        {open.value === "disable" && (
          <Confirm
            title="Disable a webhook"
            verb="Disable"
            effect={enable(false)}
            close={close}
            done={() => {
              noteDone(`${address} is disabled.`, { effect: enable(true), done: changed })
              changed()
            }}
          >
            <p>
              No more events are sent to {address} until it is enabled again. What happens meanwhile is sent when it is.
            </p>
          </Confirm>
        )}
        {open.value === "delete" && (
          <DeleteDialog
            what="webhook"
            title="Delete a webhook"
            name={origin}
            remove={call("webhooks", (api) => api.delete({ path }))}
            done={changed}
            close={close}
          >
            <p>No more events are sent to it, and its signing keys are gone.</p>
          </DeleteDialog>
        )}
      </td>
    </tr>
  )
}

/** The HTTP endpoints that receive the events of an organization. */
export const Page = ({ place: { org } }: PageProps<"org">) => {
  const webhooks = useLoad(org, () => read(org))
  const isNew = useOpened("new")
  const shown = useOpened("webhook")
  const webhook = webhooks.loaded.value.value?.find(({ id }) => id === shown.value)
  // A delivery fails, and arrives again, while the page is open.
  usePoll(webhooks, pollMillis)
  return (
    <>
      <ListPage
        title="Webhooks"
        about="Events are sent to an address as signed requests: names and versions, never values."
        create={<NewButton open={isNew.open}>New webhook</NewButton>}
        of={webhooks}
        heads={["Address", "State", "Events", "Environments", ""]}
        textOf={({ environments, events, url }) => [originOf(url), pathOf(url), ...events, ...environments].join(" ")}
        empty={<Empty title="There are no webhooks yet" />}
        row={(one) => (
          <Row key={one.id} org={org} webhook={one} changed={webhooks.reload} show={() => shown.open(one.id)} />
        )}
      />
      {isNew.value !== null && <Create org={org} close={isNew.close} changed={webhooks.reload} />}
      {webhook !== undefined && <Deliveries org={org} webhook={webhook} close={shown.close} />}
    </>
  )
}
