import { defined } from "@coffer/domain/base/Defined"
import { orgNameForm, projectNameForm } from "@coffer/domain/base/NameForms"
import type { OrgName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import { call } from "../../client/Calls.js"
import { start } from "../../client/Run.js"
import { Delete } from "../../kit/Delete.js"
import { noteOrganization } from "../../kit/Deleted.js"
import { Removed } from "../../kit/Removed.js"
import { Rename } from "../../kit/Rename.js"
import { orgAddress, serverAddress } from "../../routing/Places.js"
import { navigate } from "../../routing/Router.js"
import { missingInOrg, readOrganizations } from "../../client/Organizations.js"
import { noteDone } from "../../state/Done.js"
import { wayBack } from "../../state/Server.js"
import type { PageProps } from "../PageProps.js"
import { LostPasskeys, UnusedAccess } from "./OrganizationSetting.js"

const rename = (org: OrgName, name: OrgName) =>
  Effect.zipLeft(
    call("organizations", (api) => api.update({ path: { org_name: org }, payload: { name } })),
    readOrganizations
  )

/** The name of an organization, and its end. */
export const Page = ({ place: { org } }: PageProps<"org">) => (
  <section class="narrow">
    <h1>Settings of {org}</h1>
    <h2>Name</h2>
    <Rename
      key={org}
      what="organization"
      name={org}
      form={orgNameForm}
      hint="What is in it stays. Addresses and files such as service.yml with the old name stop working."
      why={missingInOrg(org, "org.update")}
      rename={(name) => rename(org, name)}
      done={({ name }) => {
        navigate(orgAddress(name, "settings"), { replace: true })
        noteDone(`The organization ${org} is called ${name} now.`, {
          effect: rename(name, org),
          done: () => {
            navigate(orgAddress(org, "settings"), { replace: true })
          }
        })
      }}
    />
    {missingInOrg(org, "project.restore") === null && (
      <Removed
        what="project"
        of={org}
        form={projectNameForm}
        list={call("trash", (api) => api.projects({ path: { org_name: org }, urlParams: {} }))}
        restore={(removed_id, name) =>
          call("trash", (api) =>
            api.restoreProject({ path: { org_name: org, removed_id }, payload: defined({ name }) })
          )
        }
        erase={(removed_id, name) =>
          call("trash", (api) => api.eraseProject({ path: { org_name: org, removed_id }, payload: { name } }))
        }
        done={() => undefined}
      />
    )}
    <h2>Lost passkeys</h2>
    <LostPasskeys key={org} org={org} />
    <h2>Unused access</h2>
    <UnusedAccess key={org} org={org} />
    <section class="danger-zone">
      <h2>Danger</h2>
      <p>Everything in {org} becomes inaccessible: projects, secrets, members, rules, service accounts.</p>
      <Delete
        what="organization"
        name={org}
        why={missingInOrg(org, "org.delete")}
        remove={Effect.zipRight(
          call("organizations", (api) => api.delete({ path: { org_name: org } })),
          readOrganizations
        )}
        done={() => {
          navigate(serverAddress(), { replace: true })
          noteOrganization(org, () => {
            start(readOrganizations, () => {})
          })
        }}
      >
        <p>
          All projects, secrets, members, rules and service accounts of {org} are gone at once, and every key of it
          stops working. {wayBack("in the list of organizations")} Its audit log stays for superadmins.
        </p>
      </Delete>
    </section>
  </section>
)
