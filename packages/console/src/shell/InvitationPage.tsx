import { roles } from "@coffer/domain/directory/Member"
import type { OrgName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import { call } from "../client/Calls.js"
import { useAct } from "../kit/Act.js"
import { Problem } from "../kit/Problem.js"
import { roleRights } from "../pages/members/Roles.js"
import { Leave } from "../pages/organizations/Leave.js"
import { navigate } from "../routing/Router.js"
import { organizations, readOrganizations } from "../client/Organizations.js"

/** Returns the rights that the invitation gives, as sentences. A role of a later server has no description here. */
const giftOf = (org: OrgName): string => {
  const invited = organizations.value.find(({ name }) => name === org)?.role ?? null
  const role = roles.find((one) => one === invited)
  if (role !== undefined) return `You get the role ${role}. ${roleRights[role]}`
  return invited === null ? "You become a member." : `You get the role ${invited}.`
}

/** Stands for every page of an organization until the person has accepted the membership: a link alone accepts nothing. */
export const InvitationPage = ({ org }: { readonly org: OrgName }) => {
  const act = useAct()
  return (
    <section class="empty">
      <h1>You were invited to {org}</h1>
      <p>
        <strong>If you accept:</strong> {giftOf(org)} The organization can then send you mails, its admins see when you
        were last active, and its rule for lost passkeys applies to you. You can leave later.
      </p>
      <p>
        <strong>If you decline:</strong> the invitation ends, and you get no access and no more mails. An admin can
        invite you again.
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
