import type { Lease } from "@coffer/domain/secrets/Lease"
import { useSignal } from "@preact/signals"
import { call } from "../../client/Calls.js"
import { Confirm } from "../../kit/Confirm.js"
import { Ahead, When } from "../../kit/When.js"
import { noteDone } from "../../state/Done.js"
import type { EnvPath } from "./RenewalRead.js"

interface LeaseProps {
  readonly path: EnvPath
  readonly lease: Lease
  readonly changed: () => void
}

/** A user in a database that was made for one caller. */
export const LeaseRow = ({ changed, lease, path }: LeaseProps) => {
  const { created_at, delegation, ended, expires_at, holder, id, problem, role, state, username } = lease
  const isEnding = useSignal(false)
  return (
    <tr>
      <th scope="row">
        <code>{username}</code>
      </th>
      <td>{role}</td>
      <td>
        {holder}
        {delegation !== null && " by a delegation"}
      </td>
      <td>
        <span class={`badge${state === "live" ? " good" : ""}`}>{state}</span> {problem ?? ended}
      </td>
      <td>
        <When time={created_at} />
      </td>
      <td>{ended === null && <Ahead time={expires_at} />}</td>
      <td class="actions">
        {ended === null && (
          <button type="button" onClick={() => (isEnding.value = true)}>
            Revoke<span class="hidden"> {username}</span>
          </button>
        )}
        {isEnding.value && (
          <Confirm
            title="Revoke a lease"
            verb="Revoke"
            effect={call("leases", (api) => api.revoke({ path: { ...path, lease_id: id } }))}
            close={() => (isEnding.value = false)}
            done={() => {
              noteDone(`${username} ends within seconds.`)
              changed()
            }}
          >
            <p>The sessions of {username} are ended, and the user is removed from the database.</p>
          </Confirm>
        )}
      </td>
    </tr>
  )
}
