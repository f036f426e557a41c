import type { OrgName } from "@coffer/domain/base/Names"
import type { Organization, PasskeyRecovery, UnusedAccessMail } from "@coffer/domain/directory/Organization"
import { useSignal } from "@preact/signals"
import { call } from "../../client/Calls.js"
import { missingInOrg } from "../../client/Organizations.js"
import { useAct } from "../../kit/Act.js"
import { Choose } from "../../kit/Choose.js"
import { useLoad } from "../../kit/Load.js"
import { Problem } from "../../kit/Problem.js"
import { Reading } from "../../kit/Reading.js"
import { noteDone } from "../../state/Done.js"

interface Changes {
  readonly passkey_recovery?: PasskeyRecovery
  readonly unused_access_mail?: UnusedAccessMail
}

/** One of two values of a setting. */
interface Choice {
  readonly word: string
  readonly changes: Changes
}

interface SettingProps {
  readonly org: OrgName
  /** Ends with the chosen word. */
  readonly label: string
  /** For those who only hear the button. */
  readonly saved: string
  readonly usual: Choice
  readonly other: Choice
  readonly isOther: (organization: Organization) => boolean
}

/** A setting of an organization that has two values. */
const Setting = ({ isOther, label, org, other, saved, usual }: SettingProps) => {
  const path = { org_name: org }
  const found = useLoad(org, () => call("organizations", (api) => api.get({ path })))
  const act = useAct()
  const chosen = useSignal<string | null>(null)
  const why = missingInOrg(org, "org.update")
  const set = ({ changes }: Choice) => call("organizations", (api) => api.update({ path, payload: changes }))
  const save = () => {
    const [next, before] = chosen.peek() === other.word ? [other, usual] : [usual, other]
    act.run(set(next), () => {
      chosen.value = null
      found.reload()
      noteDone(`${label} ${next.word}.`, { effect: set(before), done: found.reload })
    })
  }
  return (
    <Reading of={found}>
      {(organization) => {
        const { word } = isOther(organization) ? other : usual
        return (
          <>
            <Choose
              label={label}
              value={chosen.value ?? word}
              words={[usual.word, other.word]}
              disabled={act.isBusy.value || why !== null}
              choose={(next) => (chosen.value = next)}
            />
            {why === null && (
              <p class="row">
                <button
                  type="button"
                  disabled={act.isBusy.value || chosen.value === null || chosen.value === word}
                  onClick={save}
                >
                  Save<span class="hidden"> {saved}</span>
                </button>
              </p>
            )}
            {why !== null && <p class="quiet">To change it, one {why}.</p>}
            <Problem failure={act.failure.value} />
          </>
        )
      }}
    </Reading>
  )
}

interface OfOrganization {
  readonly org: OrgName
}

/** How a member who has lost a passkey comes back. */
export const LostPasskeys = ({ org }: OfOrganization) => (
  <Setting
    org={org}
    label="Members remove a passkey that they have lost"
    saved="how passkeys are recovered"
    usual={{ word: "after a new login", changes: { passkey_recovery: "login" } }}
    other={{
      word: "with another passkey only, or by the operator of the server",
      changes: { passkey_recovery: "none" }
    }}
    isOther={({ passkey_recovery }) => passkey_recovery === "none"}
  />
)

/** Whether the owners are mailed which access nobody used. */
export const UnusedAccess = ({ org }: OfOrganization) => (
  <Setting
    org={org}
    label="Owners are mailed the rules and accounts that nobody used for 90 days"
    saved="when unused access is mailed"
    usual={{ word: "never", changes: { unused_access_mail: "never" } }}
    other={{ word: "once a month", changes: { unused_access_mail: "monthly" } }}
    isOther={({ unused_access_mail }) => unused_access_mail === "monthly"}
  />
)
