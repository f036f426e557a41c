import { type Role, roles } from "@coffer/domain/directory/Member"
import { Email, type OrgName } from "@coffer/domain/base/Names"
import { useSignal } from "@preact/signals"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { Choose } from "../../kit/Choose.js"
import { Problem } from "../../kit/Problem.js"
import { TextField } from "../../kit/TextField.js"

const decode = Schema.decodeUnknownOption(Email)

/** Invites a person by e-mail. */
export const Invite = ({ done, org }: { readonly org: OrgName; readonly done: () => void }) => {
  const text = useSignal("")
  const role = useSignal<Role>("developer")
  const act = useAct()
  const email = Option.getOrNull(decode(text.value))
  return (
    <form
      class="fields"
      onSubmit={(event) => {
        event.preventDefault()
        if (email === null) return
        act.run(
          call("members", (api) => api.invite({ path: { org_name: org }, payload: { email, role: role.value } })),
          () => {
            text.value = ""
            done()
          }
        )
      }}
    >
      <TextField label="E-mail address" inputMode="email" text={text} placeholder="grace@example.com" maxLength={254} />
      <Choose label="Role" value={role.value} words={roles} choose={(word) => (role.value = word)} />
      <button class="primary" disabled={email === null || act.isBusy.value}>
        Invite
      </button>
      <Problem failure={act.failure.value} />
    </form>
  )
}
