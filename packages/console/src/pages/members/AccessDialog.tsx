import type { AccessReason, EnvironmentAccess } from "@coffer/domain/access/AccessTable"
import type { Email, OrgName } from "@coffer/domain/base/Names"
import { inPlaceOrder } from "@coffer/domain/directory/EnvironmentOrder"
import { maxPageSize } from "@coffer/domain/base/Schemas"
import { useSignal } from "@preact/signals"
import { call } from "../../client/Calls.js"
import { Dialog } from "../../kit/Dialog.js"
import { useLoad } from "../../kit/Load.js"
import { Reading } from "../../kit/Reading.js"
import { Table } from "../../kit/Table.js"
import { exactly } from "../../kit/When.js"
import { Link } from "../../routing/Link.js"
import { orgAddress } from "../../routing/Places.js"

const because = ({ by, env_pattern, expires_at, group, limited_by, project_pattern, role }: AccessReason): string =>
  [
    by === "rule" ? `rule ${project_pattern ?? ""} / ${env_pattern ?? ""}` : by === "role" ? `role ${role ?? ""}` : by,
    ...(group === undefined ? [] : [`of the group ${group}`]),
    ...(expires_at === undefined ? [] : [`until ${exactly(expires_at)}`]),
    ...(limited_by === undefined ? [] : [`limited by ${limited_by}`])
  ].join(", ")

const Row = ({ because: reason, env, permission, project }: EnvironmentAccess) => (
  <tr>
    <th scope="row">
      {project}/{env}
    </th>
    <td>{permission ?? <span class="quiet">none</span>}</td>
    <td class="quiet">{reason !== undefined && because(reason)}</td>
  </tr>
)

/** The permissions of a person in each environment, with the role or rule that determines them. */
export const AccessDialog = ({
  close,
  email,
  org
}: {
  readonly org: OrgName
  readonly email: Email
  readonly close: () => void
}) => {
  const from = useSignal<string | undefined>(undefined)
  const after = from.value
  const page = useLoad(after ?? "", () =>
    call("acl", (api) =>
      api.access({
        path: { org_name: org },
        urlParams: { subject: email, limit: maxPageSize, ...(after !== undefined && { after }) }
      })
    )
  )
  return (
    <Dialog title={`Access of ${email}`} close={close}>
      <Reading of={page}>
        {({ data, pagination: { next_cursor } }) => (
          <>
            <Table label={`Access of ${email}`} heads={["Environment", "Permission", "Because of"]}>
              {inPlaceOrder(data).map((row) => (
                <Row key={`${row.project}/${row.env}`} {...row} />
              ))}
            </Table>
            {next_cursor !== null && (
              <button
                type="button"
                onClick={() => {
                  from.value = next_cursor
                }}
              >
                More environments
              </button>
            )}
            <p>
              <Link to={`${orgAddress(org, "rules")}?who=${encodeURIComponent(email)}`}>Grant by a rule</Link>
            </p>
          </>
        )}
      </Reading>
    </Dialog>
  )
}
