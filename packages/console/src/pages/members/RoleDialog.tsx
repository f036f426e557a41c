import { type Member, type Role, roles } from "@coffer/domain/directory/Member"
import type { OrgName } from "@coffer/domain/base/Names"
import { useSignal } from "@preact/signals"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { Choose } from "../../kit/Choose.js"
import { Dialog } from "../../kit/Dialog.js"
import { DialogButtons } from "../../kit/DialogButtons.js"
import { noteDone } from "../../state/Done.js"
import { me } from "../../state/Session.js"
import { roleRights } from "./Roles.js"

interface RoleDialogProps {
  readonly org: OrgName
  readonly member: Member
  readonly close: () => void
  readonly changed: () => void
}

/** The consequences of a new role, in sentences. */
const Effects = ({
  from,
  isOwn,
  next,
  org,
  who
}: { readonly [Key in "from" | "org" | "who"]: string } & {
  readonly isOwn: boolean
  readonly next: Role
}) => (
  <>
    <p>
      {who} {isOwn ? "become" : "becomes"} <strong>{next}</strong> of {org} in place of {from}. {roleRights[next]}
    </p>
    {isOwn && (
      <p class="warning">
        This is your own role. If you lose the right to change roles, only another owner can give it back to you.
      </p>
    )}
    {!isOwn && next === "owner" && <p class="warning">An owner can change every role, yours too, and delete {org}.</p>}
  </>
)

/** Changes the role of a member: chosen first, and then confirmed. */
export const RoleDialog = ({ changed, close, member, org }: RoleDialogProps) => {
  const { email, role, user_id } = member
  const chosen = useSignal<Role | null>(roles.find((one) => one === role) ?? null)
  const act = useAct()
  const isOwn = me.value?.id === user_id
  const next = chosen.value ?? "member"
  const isSame = chosen.value === role
  return (
    <Dialog title={`Role of ${email}`} busy={act.isBusy} close={close}>
      <Choose label="Role" value={next} words={roles} choose={(word) => (chosen.value = word)} />
      {isSame ? (
        <p>
          {email} is {role}. {roleRights[next]}
        </p>
      ) : (
        <Effects from={role} isOwn={isOwn} next={next} org={org} who={isOwn ? "You" : email} />
      )}
      <DialogButtons
        act={act}
        close={close}
        word={isSame ? "Change the role" : `Make ${isOwn ? "yourself" : email} ${next}`}
        kind="primary"
        isDisabled={isSame}
        decide={() => {
          const set = (to: Role) =>
            call("members", (api) => api.setRole({ path: { org_name: org, user_id }, payload: { role: to } }))
          const before = roles.find((one) => one === role)
          act.run(set(next), () => {
            close()
            noteDone(`${email} is ${next} now.`, before === undefined ? null : { effect: set(before), done: changed })
            changed()
          })
        }}
      />
    </Dialog>
  )
}
