import type { OrgName } from "@coffer/domain/base/Names"
import { useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import { call } from "../../client/Calls.js"
import { Confirm } from "../../kit/Confirm.js"
import { readOrganizations } from "../../client/Organizations.js"

interface LeaveProps {
  readonly isInvited: boolean
  readonly name: OrgName
  readonly done?: () => void
}

const verbOf = (isInvited: boolean) => (isInvited ? "Decline" : "Leave")

/** Ends the caller's membership after a question. It declines an invitation too. */
export const LeaveDialog = (props: LeaveProps & { readonly close: () => void }) => {
  const { close, done = () => undefined, isInvited, name } = props
  return (
    <Confirm
      title={isInvited ? `Decline the invitation to ${name}` : `Leave ${name}`}
      verb={verbOf(isInvited)}
      effect={Effect.zipRight(
        call("members", (api) => api.leave({ path: { org_name: name } })),
        readOrganizations
      )}
      done={done}
      close={close}
    >
      <p>
        {isInvited
          ? `You are then no member of ${name}. Its admins can invite you again.`
          : `Your role, rules, groups and delegations in ${name} end at once. Only its admins can let you in again.`}
      </p>
    </Confirm>
  )
}

/** The words of what leads to the question. */
export const LeaveLabel = ({ isInvited, name }: LeaveProps) => (
  <>
    {verbOf(isInvited)}
    <span class="hidden"> {name}</span>
  </>
)

/** A button that leads to the question. */
export const Leave = (props: LeaveProps) => {
  const isOpen = useSignal(false)
  return (
    <>
      <button type="button" onClick={() => (isOpen.value = true)}>
        <LeaveLabel {...props} />
      </button>
      {isOpen.value && <LeaveDialog {...props} close={() => (isOpen.value = false)} />}
    </>
  )
}
