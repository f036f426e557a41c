import type { OrgName } from "@coffer/domain/Names"
import * as Effect from "effect/Effect"
import { call } from "../client/Calls.js"
import { useAct } from "../kit/Act.js"
import { Problem } from "../kit/Problem.js"
import { Leave } from "../pages/organizations/Leave.js"
import { navigate } from "../routing/Router.js"
import { readOrganizations } from "../state/Organizations.js"

/** Stands for every page of an organization until the person has accepted the membership: a link alone accepts nothing. */
export const InvitationPage = ({ org }: { readonly org: OrgName }) => {
  const act = useAct()
  return (
    <section class="empty">
      <h1>You were invited to {org}</h1>
      <p>
        Its rules bind you once you have accepted. Its admins then see when you were last seen, and the owners' mails
        reach you.
      </p>
      <p>
        <button
          type="button"
          class="primary"
          disabled={act.isBusy.value}
          onClick={() => {
            // Any call in the organization accepts.
            act.run(
              Effect.zipRight(
                call("organizations", (api) => api.get({ path: { org_name: org } })),
                readOrganizations
              ),
              () => undefined
            )
          }}
        >
          Accept
        </button>{" "}
        <Leave
          isInvited
          name={org}
          done={() => {
            navigate("/")
          }}
        />
      </p>
      <Problem failure={act.failure.value} />
    </section>
  )
}
