import type { OrgName } from "@coffer/domain/base/Names"
import type { ServiceAccount } from "@coffer/domain/directory/ServiceAccount"
import { useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import { Bot } from "lucide"
import { call } from "../../client/Calls.js"
import { missingInOrg } from "../../client/Organizations.js"
import { DeleteDialog } from "../../kit/Delete.js"
import { Empty, ListPage, NewButton } from "../../kit/ListPage.js"
import { later } from "../../kit/Later.js"
import { useLoad } from "../../kit/Load.js"
import { Menu, MenuItem } from "../../kit/Menu.js"
import { useOpened } from "../../kit/Opened.js"
import { Named } from "../../kit/Person.js"
import { UsageBadge } from "../../kit/UsageBadge.js"
import { When } from "../../kit/When.js"
import { Link } from "../../routing/Link.js"
import type { PageProps } from "../PageProps.js"
import { AccountDrawer } from "./AccountDrawer.js"
import { Expiry } from "./Expiry.js"
import { Networks } from "./Networks.js"
import { RotateKey } from "./RotateKey.js"
import "./Page.css"

const Federations = later(async () => (await import("./Federations.js")).Federations)
const Wizard = later(async () => (await import("./Wizard.js")).Wizard)

const read = (org: OrgName) =>
  Effect.map(
    call("serviceAccounts", (api) => api.list({ path: { org_name: org } })),
    ({ data }) => data
  )

interface RowProps {
  readonly org: OrgName
  readonly account: ServiceAccount
  readonly changed: () => void
  /** Opens the drawer of the account. */
  readonly show: () => void
}

const networksText = (count: number) => (count === 1 ? "1 network" : `${count} networks`)

const Row = (props: RowProps) => {
  const { account, changed, org, show } = props
  const { allowed_networks, expires_at, id, key_hint, last_used_at, name, network_notes, project, reveal, usage } =
    account
  const open = useSignal<"keyless" | "networks" | "rotate" | "revoke" | null>(null)
  const close = () => {
    open.value = null
  }
  return (
    <tr>
      <th scope="row">
        <Link to={`?account=${id}`} class="row-link" open={show}>
          <Named icon={Bot} name={name} />
        </Link>{" "}
        {!reveal && <span class="badge">sees no values</span>}{" "}
        {allowed_networks !== undefined && <span class="badge">{networksText(allowed_networks.length)}</span>}
        {network_notes?.map((text) => (
          <p key={text} class="quiet">
            {text}
          </p>
        ))}
      </th>
      <td>{project ?? <span class="quiet">the organization</span>}</td>
      <td>{key_hint === "" ? <span class="quiet">none</span> : <code>…{key_hint}</code>}</td>
      <td>{key_hint === "" ? <span class="quiet">–</span> : <Expiry time={expires_at} />}</td>
      <td class="quiet">
        {last_used_at === null ? "never" : <When time={last_used_at} />}
        <UsageBadge usage={usage} />
      </td>
      <td class="actions">
        <Menu label={`Actions for ${name}`}>
          <MenuItem run={show}>
            Explain<span class="hidden"> the access of {name}</span>
          </MenuItem>
          <MenuItem run={() => (open.value = "keyless")} why={missingInOrg(org, "federation.list")}>
            Keyless<span class="hidden"> sign-in of {name}</span>
          </MenuItem>
          <MenuItem run={() => (open.value = "networks")} why={missingInOrg(org, "service_account.update")}>
            Networks<span class="hidden"> of {name}</span>
          </MenuItem>
          <MenuItem run={() => (open.value = "rotate")} why={missingInOrg(org, "service_account.rotate")}>
            Rotate<span class="hidden"> the key of {name}</span>
          </MenuItem>
          <MenuItem run={() => (open.value = "revoke")} why={missingInOrg(org, "service_account.revoke")}>
            Revoke<span class="hidden"> {name}</span>
          </MenuItem>
        </Menu>
        {open.value === "keyless" && <Federations org={org} account={account} close={close} />}
        {open.value === "networks" && <Networks {...props} close={close} />}
        {open.value === "rotate" && <RotateKey {...props} close={close} />}
        {open.value === "revoke" && (
          <DeleteDialog
            what="service account"
            title="Revoke a service account"
            verb="Revoke"
            name={name}
            remove={call("serviceAccounts", (api) => api.revoke({ path: { org_name: org, sa_id: id } }))}
            done={changed}
            close={close}
          >
            <p>Its key and its rules end at once. What runs with the key gets no secret any more.</p>
          </DeleteDialog>
        )}
      </td>
    </tr>
  )
}

/** The machines and agents of an organization. */
export const Page = ({ place: { org } }: PageProps<"org">) => {
  const accounts = useLoad(org, () => read(org))
  const isNew = useOpened("new")
  const shown = useOpened("account")
  const account = accounts.loaded.value.value?.find(({ id }) => id === shown.value)
  return (
    <>
      <ListPage
        title="Service accounts"
        about="Each machine, pipeline or agent gets an account of its own."
        create={<NewButton open={isNew.open}>New service account</NewButton>}
        of={accounts}
        heads={["Name", "Bound to", "Key", "Expires", "Last use", ""]}
        textOf={({ key_hint, name, project }) => `${name} ${project ?? ""} ${key_hint}`}
        empty={
          <Empty title="There are no service accounts yet">
            <p>A new one ends with the lines for GitHub, GitLab, Kubernetes, Docker, systemd or an agent.</p>
          </Empty>
        }
        row={(one) => (
          <Row key={one.id} org={org} account={one} changed={accounts.reload} show={() => shown.open(one.id)} />
        )}
      />
      {isNew.value !== null && <Wizard org={org} close={isNew.close} changed={accounts.reload} />}
      {account !== undefined && <AccountDrawer org={org} account={account} close={shown.close} />}
    </>
  )
}
