import type { OrgName } from "@coffer/domain/base/Names"
import type { ServiceAccount } from "@coffer/domain/directory/ServiceAccount"
import { Copyable } from "../../kit/CopyText.js"
import { Dialog } from "../../kit/Dialog.js"
import { Explain } from "../../kit/Explain.js"
import { By } from "../../kit/Person.js"
import { When } from "../../kit/When.js"
import { Link } from "../../routing/Link.js"
import { orgAddress } from "../../routing/Places.js"
import { Expiry } from "./Expiry.js"

interface AccountDrawerProps {
  readonly org: OrgName
  readonly account: ServiceAccount
  readonly close: () => void
}

/** A service account: the facts, and what it may do where. */
export const AccountDrawer = ({ account, close, org }: AccountDrawerProps) => {
  const { allowed_networks, created_at, created_by, expires_at, id, key_hint, last_used_at, name, project, reveal } =
    account
  return (
    <Dialog title={name} class="drawer" close={close}>
      <dl class="facts">
        <dt>Id</dt>
        <dd>
          <Copyable text={id} />
        </dd>
        <dt>Bound to</dt>
        <dd>{project ?? `all projects of ${org}`}</dd>
        <dt>Key</dt>
        <dd>
          {key_hint === "" ? (
            "none: it signs in with tokens of a CI system or cluster"
          ) : (
            <>
              <code>…{key_hint}</code>, expires <Expiry time={expires_at} />
            </>
          )}
        </dd>
        <dt>Values</dt>
        <dd>{reveal ? "may be read" : "are hidden from it"}</dd>
        <dt>Calls from</dt>
        <dd>{allowed_networks === undefined ? "anywhere" : <code>{allowed_networks.join(", ")}</code>}</dd>
        <dt>Last use</dt>
        <dd>{last_used_at === null ? "never" : <When time={last_used_at} />}</dd>
        <dt>Created</dt>
        <dd>
          <By time={created_at} who={created_by} />
        </dd>
      </dl>
      <h2>What it may do</h2>
      <Explain org={org} project={project} subject={{ subject_type: "service_account", subject_id: id }} />
      <p>
        <Link to={`${orgAddress(org, "rules")}?who=${encodeURIComponent(`account ${name}`)}`}>Grant by a rule</Link>
      </p>
    </Dialog>
  )
}
