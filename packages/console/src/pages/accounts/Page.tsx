import type { OrgName } from "@coffer/domain/base/Names"
import type { ServiceAccount } from "@coffer/domain/directory/ServiceAccount"
import { useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { ConfirmByName } from "../../kit/ConfirmByName.js"
import { Dialog } from "../../kit/Dialog.js"
import { Explain } from "../../kit/Explain.js"
import { later } from "../../kit/Later.js"
import { useLoad } from "../../kit/Load.js"
import { Problem } from "../../kit/Problem.js"
import { Reading } from "../../kit/Reading.js"
import { When } from "../../kit/When.js"
import type { PageProps } from "../PageProps.js"
import { Expiry } from "./Expiry.js"
import { Networks } from "./Networks.js"
import { RotateKey } from "./RotateKey.js"
import "./Page.css"
import { Table } from "../../kit/Table.js"

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
}

const Revoke = ({ account, changed, close, org }: RowProps & { readonly close: () => void }) => {
  const act = useAct()
  return (
    <ConfirmByName
      title="Revoke a service account"
      name={account.name}
      verb="Revoke"
      busy={act.isBusy}
      close={close}
      confirm={() => {
        act.run(
          call("serviceAccounts", (api) => api.revoke({ path: { org_name: org, sa_id: account.id } })),
          changed
        )
      }}
    >
      <p>Its key and its rules end at once. What runs with the key gets no secret any more.</p>
      <Problem failure={act.failure.value} />
    </ConfirmByName>
  )
}

const networksText = (count: number) => (count === 1 ? "1 network" : `${count} networks`)

const Row = (props: RowProps) => {
  const { account, org } = props
  const { allowed_networks, expires_at, id, key_hint, last_used_at, name, network_notes, project, reveal } = account
  const open = useSignal<"explain" | "keyless" | "networks" | "rotate" | "revoke" | null>(null)
  const close = () => {
    open.value = null
  }
  return (
    <tr>
      <th scope="row">
        {name} {!reveal && <span class="badge">sees no values</span>}{" "}
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
      <td class="quiet">{last_used_at === null ? "never" : <When time={last_used_at} />}</td>
      <td class="actions">
        <button type="button" onClick={() => (open.value = "explain")}>
          Explain<span class="hidden"> the access of {name}</span>
        </button>
        <button type="button" onClick={() => (open.value = "keyless")}>
          Keyless<span class="hidden"> sign-in of {name}</span>
        </button>
        <button type="button" onClick={() => (open.value = "networks")}>
          Networks<span class="hidden"> of {name}</span>
        </button>
        <button type="button" onClick={() => (open.value = "rotate")}>
          Rotate<span class="hidden"> the key of {name}</span>
        </button>
        <button type="button" onClick={() => (open.value = "revoke")}>
          Revoke<span class="hidden"> {name}</span>
        </button>
        {open.value === "explain" && (
          <Dialog title={`What ${name} may do`} close={close}>
            <Explain org={org} subject={{ subject_type: "service_account", subject_id: id }} />
          </Dialog>
        )}
        {open.value === "keyless" && <Federations org={org} account={account} close={close} />}
        {open.value === "networks" && <Networks {...props} close={close} />}
        {open.value === "rotate" && <RotateKey {...props} close={close} />}
        {open.value === "revoke" && <Revoke {...props} close={close} />}
      </td>
    </tr>
  )
}

/** The machines and agents of an organization. */
export const Page = ({ place: { org } }: PageProps<"org">) => {
  const accounts = useLoad(org, () => read(org))
  const isOpen = useSignal(false)
  return (
    <section class="wide-page">
      <h1>Service accounts</h1>
      <p>
        Each machine, pipeline or agent gets an account of its own.{" "}
        <button type="button" class="primary" onClick={() => (isOpen.value = true)}>
          New service account
        </button>
      </p>
      {isOpen.value && <Wizard org={org} close={() => (isOpen.value = false)} changed={accounts.reload} />}
      <Reading of={accounts}>
        {(found) =>
          found.length === 0 ? (
            <p class="quiet">There are no service accounts yet.</p>
          ) : (
            <Table label="Service accounts" heads={["Name", "Bound to", "Key", "Expires", "Last use", ""]}>
              {found.map((account) => (
                <Row key={account.id} org={org} account={account} changed={accounts.reload} />
              ))}
            </Table>
          )
        }
      </Reading>
    </section>
  )
}
