import { maxInvitationBytes } from "@coffer/domain/access/Invitations"
import { type Member, roles } from "@coffer/domain/directory/Member"
import type { OrgName } from "@coffer/domain/base/Names"
import { useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { ConfirmByName } from "../../kit/ConfirmByName.js"
import { Dialog } from "../../kit/Dialog.js"
import { Explain } from "../../kit/Explain.js"
import { useLoad } from "../../kit/Load.js"
import { Problem } from "../../kit/Problem.js"
import { Reading } from "../../kit/Reading.js"
import { When } from "../../kit/When.js"
import { missingInOrg } from "../../client/Organizations.js"
import { me } from "../../state/Session.js"
import type { PageProps } from "../PageProps.js"
import { AccessDialog } from "./AccessDialog.js"
import { Invite } from "./Invite.js"
import { InviteFile } from "./InviteFile.js"
import { RoleDialog } from "./RoleDialog.js"
import { roleRights } from "./Roles.js"
import { Table } from "../../kit/Table.js"

const read = (org: OrgName) =>
  Effect.map(
    call("members", (api) => api.list({ path: { org_name: org } })),
    ({ data }) => data
  )

interface RowProps {
  readonly org: OrgName
  readonly member: Member
  readonly changed: () => void
}

const Row = (props: RowProps) => {
  const { changed, member, org } = props
  const { created_at, email, role, user_id } = member
  const open = useSignal<"access" | "explain" | "remove" | "role" | null>(null)
  const act = useAct()
  const close = () => {
    open.value = null
  }
  const why = missingInOrg(org, "member.remove")
  // A role of a later server cannot be chosen here.
  const isKnown = roles.some((one) => one === role)
  const isOwn = me.value?.email === email
  const whyNotExplain = isOwn ? null : missingInOrg(org, "acl.list")
  const remove = () => {
    act.run(
      call("members", (api) => api.remove({ path: { org_name: org, user_id } })),
      changed
    )
  }
  return (
    <tr>
      <th scope="row">
        {email} {isOwn && <span class="badge">you</span>}{" "}
        {member.has_access === false && <span class="badge warn">no access yet</span>}{" "}
        {member.accepted === false ? (
          <span class="badge">invited</span>
        ) : (
          member.last_seen_at === null && <span class="badge">never logged in</span>
        )}
      </th>
      <td>{role}</td>
      <td class="quiet">
        <When time={created_at} />
      </td>
      <td class="actions">
        {isKnown && missingInOrg(org, "member.update") === null && (
          <button type="button" onClick={() => (open.value = "role")}>
            Role<span class="hidden"> of {email}</span>
          </button>
        )}
        <button
          type="button"
          disabled={whyNotExplain !== null}
          title={whyNotExplain ?? undefined}
          onClick={() => (open.value = "access")}
        >
          Access<span class="hidden"> of {email}</span>
        </button>
        <button
          type="button"
          disabled={whyNotExplain !== null}
          title={whyNotExplain ?? undefined}
          onClick={() => (open.value = "explain")}
        >
          Explain<span class="hidden"> the access of {email}</span>
        </button>
        <button type="button" disabled={why !== null} title={why ?? undefined} onClick={() => (open.value = "remove")}>
          Remove<span class="hidden"> {email}</span>
        </button>
        {open.value === "role" && <RoleDialog {...props} close={close} />}
        {open.value === "access" && <AccessDialog org={org} email={email} close={close} />}
        {open.value === "explain" && (
          <Dialog title={`What ${email} may do`} close={close}>
            <Explain org={org} subject={{ subject_type: "user", email }} />
          </Dialog>
        )}
        {open.value === "remove" && (
          <ConfirmByName
            title="Remove a member"
            name={email}
            verb="Remove"
            busy={act.isBusy}
            confirm={remove}
            close={close}
          >
            <p>
              {email} loses all access to {org} at once, with all of its rules. Service accounts that the person made
              stay valid: rotate their keys if the person may know them.
            </p>
            <Problem failure={act.failure.value} />
          </ConfirmByName>
        )}
      </td>
    </tr>
  )
}

/** The people of an organization. */
export const Page = ({ place: { org } }: PageProps<"org">) => {
  const members = useLoad(org, () => read(org))
  const why = missingInOrg(org, "member.invite")
  const file = useSignal<string | null>(null)
  return (
    <section
      class="wide-page"
      onDragOver={(event) => {
        if (event.dataTransfer?.types.includes("Files") === true) event.preventDefault()
      }}
      onDrop={(event) => {
        const [dropped] = event.dataTransfer?.files ?? []
        if (dropped === undefined || file.peek() !== null) return
        event.preventDefault()
        if (why === null && dropped.size <= maxInvitationBytes) {
          void dropped.text().then((text) => (file.value = text))
        }
      }}
    >
      <h1>Members</h1>
      {why === null ? (
        <>
          <Invite org={org} done={members.reload} />
          <div class="fields">
            {" "}
            <button type="button" onClick={() => (file.value = "")}>
              Invite many by CSV…
            </button>
          </div>
        </>
      ) : (
        <p class="quiet">To invite people, one {why}.</p>
      )}
      {file.value !== null && (
        <InviteFile org={org} first={file.value} done={members.reload} close={() => (file.value = null)} />
      )}
      <Reading of={members}>
        {(found) => (
          <Table label="Members" heads={["Person", "Role", "Since", ""]}>
            {found.map((member) => (
              <Row key={member.user_id} org={org} member={member} changed={members.reload} />
            ))}
          </Table>
        )}
      </Reading>
      <details class="more">
        <summary>What the roles may do</summary>
        <dl class="facts">
          {roles.map((role) => (
            <>
              <dt>{role}</dt>
              <dd>{roleRights[role]}</dd>
            </>
          ))}
        </dl>
      </details>
    </section>
  )
}
