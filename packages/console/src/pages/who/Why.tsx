import type { AccessHolder } from "@coffer/domain/access/AccessHolder"
import { holderName } from "@coffer/domain/access/HolderCsv"
import type { OrgName } from "@coffer/domain/base/Names"
import { Dialog } from "../../kit/Dialog.js"
import { Ahead, When } from "../../kit/When.js"
import { Link } from "../../routing/Link.js"
import { orgAddress } from "../../routing/Places.js"

interface WhyProps {
  readonly org: OrgName
  readonly place: string
  readonly holder: AccessHolder
  readonly close: () => void
}

const Reason = ({ because, org }: { readonly because: AccessHolder["because"]; readonly org: OrgName }) =>
  because.by === "rule" ? (
    <>
      the{" "}
      <Link to={orgAddress(org, "rules")}>
        rule{" "}
        <code>
          {because.project_pattern}/{because.env_pattern} {because.key_pattern}
        </code>
      </Link>
      {because.group !== undefined && <> of the group {because.group}</>}
    </>
  ) : (
    <>{because.by === "role" ? `the role ${because.role ?? "?"}` : "being a superadmin"}</>
  )

/** Why somebody has a permission in an environment, until when, and the last use. */
export const Why = ({ close, holder, org, place }: WhyProps) => {
  const { because, delegations = [], invited, last_used_at, permission, usage } = holder
  return (
    <Dialog title={`${holderName(holder)} in ${place}`} close={close}>
      <p>
        May <strong>{permission}</strong> here: for longest by <Reason because={because} org={org} />
        {because.expires_at === undefined ? (
          ", without an end"
        ) : (
          <>
            , which ends <Ahead time={because.expires_at} />
          </>
        )}
        .{because.limited_by !== undefined && ` It is limited by ${because.limited_by}.`}
      </p>
      {invited === true && <p>The invitation is not accepted yet: the first call accepts it.</p>}
      <p>
        {last_used_at === undefined ? (
          "The people of the group are listed, each with their last use."
        ) : last_used_at === null ? (
          "The audit log has no use of it here."
        ) : (
          <>
            Last used here <When time={last_used_at} />.
          </>
        )}
        {usage === "unknown" && " The log cannot say whether the last 90 days had a use."}
      </p>
      {delegations.length > 0 && (
        <>
          <h3>Delegations</h3>
          <ul>
            {delegations.map((one) => (
              <li key={one.id}>
                {one.name}: {one.permission}
                {one.keys !== undefined && `, only ${one.keys.join(", ")}`}, ends <Ahead time={one.expires_at} />,{" "}
                {one.last_used_at === null ? (
                  "never used"
                ) : (
                  <>
                    last used <When time={one.last_used_at} />
                  </>
                )}
                {one.limited_by !== undefined && `, limited by ${one.limited_by}`}
              </li>
            ))}
          </ul>
        </>
      )}
    </Dialog>
  )
}
