import type { OrgName } from "@coffer/domain/Names"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { Choose } from "../../kit/Choose.js"
import { useLoad } from "../../kit/Load.js"
import { Problem } from "../../kit/Problem.js"
import { Reading } from "../../kit/Reading.js"
import { missingInOrg } from "../../state/Organizations.js"

const words = {
  login: "after a new login",
  none: "with another passkey only, or by the operator of the server"
} as const

/** How a member who has lost a passkey comes back. */
export const PasskeyRecovery = ({ org }: { readonly org: OrgName }) => {
  const path = { org_name: org }
  const found = useLoad(org, () => call("organizations", (api) => api.get({ path })))
  const act = useAct()
  const why = missingInOrg(org, "org.update")
  return (
    <Reading of={found}>
      {({ passkey_recovery }) => (
        <>
          <Choose
            label="Members remove a passkey that they have lost"
            value={passkey_recovery === "none" ? words.none : words.login}
            words={[words.login, words.none]}
            disabled={act.isBusy.value || why !== null}
            choose={(word) => {
              const payload = { passkey_recovery: word === words.none ? "none" : "login" } as const
              act.run(
                call("organizations", (api) => api.update({ path, payload })),
                found.reload
              )
            }}
          />
          {why !== null && <p class="quiet">To change it, one {why}.</p>}
          <Problem failure={act.failure.value} />
        </>
      )}
    </Reading>
  )
}
