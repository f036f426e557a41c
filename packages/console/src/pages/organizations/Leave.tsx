import type { OrgName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import { call } from "../../client/Calls.js"
import { ConfirmButton } from "../../kit/Confirm.js"
import { readOrganizations } from "../../client/Organizations.js"

interface LeaveProps {
  readonly isInvited: boolean
  readonly name: OrgName
  readonly done?: () => void
}

/** Ends the caller's membership after a question. It declines an invitation too. */
export const Leave = ({ done = () => undefined, isInvited, name }: LeaveProps) => {
  const verb = isInvited ? "Decline" : "Leave"
  return (
    <ConfirmButton
      title={isInvited ? `Decline the invitation to ${name}` : `Leave ${name}`}
      verb={verb}
      label={
        <>
          {verb}
          <span class="hidden"> {name}</span>
        </>
      }
      effect={Effect.zipRight(
        call("members", (api) => api.leave({ path: { org_name: name } })),
        readOrganizations
      )}
      done={done}
    >
      <p>
        {isInvited
          ? `You are then no member of ${name}. Its admins can invite you again.`
          : `Your role, rules, groups and delegations in ${name} end at once. Only its admins can let you in again.`}
      </p>
    </ConfirmButton>
  )
}
