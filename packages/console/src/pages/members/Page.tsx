import { maxInvitationBytes } from "@coffer/domain/access/Invitations"
import { type Member, roles } from "@coffer/domain/directory/Member"
import type { OrgName } from "@coffer/domain/base/Names"
import { useSignal } from "@preact/signals"
import { Plus } from "lucide"
import * as Effect from "effect/Effect"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { ConfirmByName } from "../../kit/ConfirmByName.js"
import { Dialog } from "../../kit/Dialog.js"
import { Explain } from "../../kit/Explain.js"
import { later } from "../../kit/Later.js"
import { useLoad } from "../../kit/Load.js"
import { Problem } from "../../kit/Problem.js"
import { Empty, ListPage } from "../../kit/ListPage.js"
import { Icon } from "../../kit/Icon.js"
import { Menu, MenuItem } from "../../kit/Menu.js"
import { useOpened } from "../../kit/Opened.js"
import { Person } from "../../kit/Person.js"
import { When } from "../../kit/When.js"
import { missingInOrg } from "../../client/Organizations.js"
import { me } from "../../state/Session.js"
import type { PageProps } from "../PageProps.js"
import { Link } from "../../routing/Link.js"
import { MemberDrawer } from "./MemberDrawer.js"
import { RoleDialog } from "./RoleDialog.js"
import { roleRights } from "./Roles.js"

const InviteDialog = later(async () => (await import("./InviteDialog.js")).InviteDialog)
const InviteFile = later(async () => (await import("./InviteFile.js")).InviteFile)

const read = (org: OrgName) =>
  Effect.map(
    call("members", (api) => api.list({ path: { org_name: org } })),
    ({ data }) => data
  )

interface RowProps {
  readonly org: OrgName
  readonly member: Member
  readonly changed: () => void
  /** Opens the drawer of the member. */
  readonly show: () => void
}

const isDated = (time: string | null | undefined): time is string => typeof time === "string"

const Row = (props: RowProps) => {
  const { changed, member, org, show } = props
  const { created_at, email, last_seen_at, role, user_id } = member
  const open = useSignal<"explain" | "remove" | "role" | null>(null)
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
        <Link to={`?member=${user_id}`} class="row-link" open={show}>
          <Person address={email} />
        </Link>{" "}
        {isOwn && <span class="badge">you</span>}{" "}
        {member.has_access === false && <span class="badge warn">no access yet</span>}{" "}
        {member.accepted === false ? (
          <span class="badge">invited</span>
        ) : (
          member.last_seen_at === null && <span class="badge">never logged in</span>
        )}
      </th>
      <td>{role}</td>
      <td class="quiet">{isDated(last_seen_at) ? <When time={last_seen_at} /> : "–"}</td>
      <td class="quiet">
        <When time={created_at} />
      </td>
      <td class="actions">
        <Menu label={`Actions for ${email}`}>
          {isKnown && (
            <MenuItem run={() => (open.value = "role")} why={missingInOrg(org, "member.update")}>
              Role<span class="hidden"> of {email}</span>
            </MenuItem>
          )}
          <MenuItem run={show}>
            Access<span class="hidden"> of {email}</span>
          </MenuItem>
          <MenuItem run={() => (open.value = "explain")} why={whyNotExplain}>
            Explain<span class="hidden"> the access of {email}</span>
          </MenuItem>
          <MenuItem run={() => (open.value = "remove")} why={why}>
            Remove<span class="hidden"> {email}</span>
          </MenuItem>
        </Menu>
        {open.value === "role" && <RoleDialog {...props} close={close} />}
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

const RoleRights = () => (
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
)

/** The people of an organization. */
export const Page = ({ place: { org } }: PageProps<"org">) => {
  const members = useLoad(org, () => read(org))
  const why = missingInOrg(org, "member.invite")
  const file = useSignal<string | null>(null)
  const isInviting = useOpened("new")
  const shown = useOpened("member")
  const member = members.loaded.value.value?.find(({ user_id }) => user_id === shown.value)
  return (
    <div
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
      <ListPage
        title="Members"
        about={why === null ? undefined : `To invite people, one ${why}.`}
        create={
          why === null && (
            <>
              <button type="button" onClick={() => (file.value = "")}>
                <span>
                  Invite many<span class="wide-only"> by CSV</span>…
                </span>
              </button>
              <button type="button" class="primary" onClick={() => isInviting.open()}>
                <Icon of={Plus} />
                Invite
              </button>
            </>
          )
        }
        of={members}
        heads={["Person", "Role", "Last seen", "Since", ""]}
        textOf={({ email, role }) => `${email} ${role}`}
        empty={<Empty title="There are no members" />}
        row={(one) => (
          <Row key={one.user_id} org={org} member={one} changed={members.reload} show={() => shown.open(one.user_id)} />
        )}
      >
        <RoleRights />
      </ListPage>
      {isInviting.value !== null && why === null && (
        <InviteDialog org={org} done={members.reload} close={isInviting.close} />
      )}
      {file.value !== null && (
        <InviteFile org={org} first={file.value} done={members.reload} close={() => (file.value = null)} />
      )}
      {member !== undefined && <MemberDrawer org={org} member={member} close={shown.close} />}
    </div>
  )
}
