import type { LeaseRole } from "@coffer/domain/secrets/LeaseRole"
import { call } from "../../client/Calls.js"
import { By } from "../../kit/Person.js"
import { RowMenu } from "../../kit/RowMenu.js"
import type { EnvPath } from "./RenewalRead.js"

interface RoleProps {
  readonly path: EnvPath
  readonly role: LeaseRole
  readonly changed: () => void
}

/** How leased users are made. */
export const RoleRow = ({ changed, path, role }: RoleProps) => {
  const { connection, created_at, created_by, default_ttl, max_ttl, name } = role
  return (
    <tr>
      <th scope="row">{name}</th>
      <td>{connection}</td>
      <td>
        {default_ttl}, at most {max_ttl}
      </td>
      <td>
        <By time={created_at} who={created_by} />
      </td>
      <td class="actions">
        <RowMenu
          what="role"
          name={name}
          remove={call("leaseRoles", (api) => api.delete({ path: { ...path, role_name: name } }))}
          done={changed}
          consequences="Nobody can lease a user of it any more. Leases that live must be revoked first."
        />
      </td>
    </tr>
  )
}
