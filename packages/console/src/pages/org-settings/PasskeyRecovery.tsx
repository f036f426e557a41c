import type { OrgName } from "@coffer/domain/base/Names"
import { useSignal } from "@preact/signals"
import { call } from "../../client/Calls.js"
import { useAct } from "../../kit/Act.js"
import { Choose } from "../../kit/Choose.js"
import { useLoad } from "../../kit/Load.js"
import { Problem } from "../../kit/Problem.js"
import { Reading } from "../../kit/Reading.js"
import { missingInOrg } from "../../client/Organizations.js"
import { noteDone } from "../../state/Done.js"

const words = {
  login: "after a new login",
  none: "with another passkey only, or by the operator of the server"
} as const

type Word = (typeof words)[keyof typeof words]

const wordOf = (recovery: string | undefined): Word => (recovery === "none" ? words.none : words.login)

/** How a member who has lost a passkey comes back. */
export const PasskeyRecovery = ({ org }: { readonly org: OrgName }) => {
  const path = { org_name: org }
  const found = useLoad(org, () => call("organizations", (api) => api.get({ path })))
  const act = useAct()
  const chosen = useSignal<Word | null>(null)
  const why = missingInOrg(org, "org.update")
  const set = (passkey_recovery: keyof typeof words) =>
    call("organizations", (api) => api.update({ path, payload: { passkey_recovery } }))
  const save = () => {
    const next = chosen.peek() === words.none ? "none" : "login"
    act.run(set(next), () => {
      chosen.value = null
      found.reload()
      noteDone(`Members remove a passkey that they have lost ${words[next]}.`, {
        effect: set(next === "none" ? "login" : "none"),
        done: found.reload
      })
    })
  }
  return (
    <Reading of={found}>
      {({ passkey_recovery }) => (
        <>
          <Choose
            label="Members remove a passkey that they have lost"
            value={chosen.value ?? wordOf(passkey_recovery)}
            words={[words.login, words.none]}
            disabled={act.isBusy.value || why !== null}
            choose={(word) => (chosen.value = word)}
          />
          {why === null && (
            <p class="row">
              <button
                type="button"
                disabled={act.isBusy.value || chosen.value === null || chosen.value === wordOf(passkey_recovery)}
                onClick={save}
              >
                Save<span class="hidden"> how passkeys are recovered</span>
              </button>
            </p>
          )}
          {why !== null && <p class="quiet">To change it, one {why}.</p>}
          <Problem failure={act.failure.value} />
        </>
      )}
    </Reading>
  )
}
