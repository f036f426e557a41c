import type { AccessReason, EnvironmentAccess } from "@coffer/domain/access/AccessTable"
import type { Email, OrgName } from "@coffer/domain/base/Names"
import { inPlaceOrder } from "@coffer/domain/directory/EnvironmentOrder"
import { maxPageSize } from "@coffer/domain/base/Schemas"
import { type Member, roles } from "@coffer/domain/directory/Member"
import { useSignal } from "@preact/signals"
import { call } from "../../client/Calls.js"
import { missingInOrg } from "../../client/Organizations.js"
import { Dialog } from "../../kit/Dialog.js"
import { useLoad } from "../../kit/Load.js"
import { Reading } from "../../kit/Reading.js"
import { Table } from "../../kit/Table.js"
import { exactly } from "../../kit/Exactly.js"
import { UsageBadge } from "../../kit/UsageBadge.js"
import { When } from "../../kit/When.js"
import { Link } from "../../routing/Link.js"
import { orgAddress } from "../../routing/Places.js"
import { me } from "../../state/Session.js"
import { roleRights } from "./Roles.js"

const because = ({
  by,
  env_pattern,
  expires_at,
  group,
  key_pattern = "",
  limited_by,
  project_pattern,
  role
}: AccessReason): string =>
  [
    by === "rule"
      ? `rule ${project_pattern ?? ""} / ${env_pattern ?? ""} ${key_pattern}`.trim()
      : by === "role"
        ? `role ${role ?? ""}`
        : by,
    ...(group === undefined ? [] : [`of the group ${group}`]),
    ...(expires_at === undefined ? [] : [`until ${exactly(expires_at)}`]),
    ...(limited_by === undefined ? [] : [`limited by ${limited_by}`])
  ].join(", ")

const Row = ({ because: reason, env, permission, permission_for_some: some, project, usage }: EnvironmentAccess) => (
  <tr>
    <th scope="row">
      {project}/{env}
    </th>
    <td>
      {permission ?? (some === undefined && <span class="quiet">none</span>)}
      {some !== undefined && ` ${some} for some keys`}
      <UsageBadge usage={usage} />
    </td>
    <td class="quiet">{reason !== undefined && because(reason)}</td>
  </tr>
)

const Reach = ({ email, org }: { readonly org: OrgName; readonly email: Email }) => {
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
    <Reading of={page}>
      {({ data, pagination: { next_cursor } }) => (
        <>
          <Table label={`Access of ${email}`} heads={["Environment", "Permission", "Because of"]}>
            {inPlaceOrder(data).map((row) => (
              <Row key={`${row.project}/${row.env}`} {...row} />
            ))}
          </Table>
          {next_cursor !== null && (
            <button type="button" onClick={() => (from.value = next_cursor)}>
              More environments
            </button>
          )}
          <p>
            <Link to={`${orgAddress(org, "rules")}?who=${encodeURIComponent(email)}`}>Grant by a rule</Link>
          </p>
        </>
      )}
    </Reading>
  )
}

interface MemberDrawerProps {
  readonly org: OrgName
  readonly member: Member
  readonly close: () => void
}

/** A member: the facts, and the permissions in each environment with the role or rule that determines them. */
export const MemberDrawer = ({ close, member, org }: MemberDrawerProps) => {
  const { accepted, created_at, email, last_seen_at, role } = member
  const missing = me.value?.email === email ? null : missingInOrg(org, "acl.list")
  return (
    <Dialog title={email} class="drawer" close={close}>
      <dl class="facts">
        <dt>Role</dt>
        <dd>
          {role} <span class="quiet">{roleRights[roles.find((one) => one === role) ?? "member"]}</span>
        </dd>
        <dt>Member since</dt>
        <dd>
          <When time={created_at} /> {accepted === false && <span class="badge">invited</span>}
        </dd>
        {last_seen_at !== undefined && (
          <>
            <dt>Last seen</dt>
            <dd>{last_seen_at === null ? "never" : <When time={last_seen_at} />}</dd>
          </>
        )}
      </dl>
      <h2>May reach</h2>
      {missing !== null ? (
        <p class="quiet">To see the access of others, one {missing}.</p>
      ) : (
        <Reach org={org} email={email} />
      )}
    </Dialog>
  )
}
