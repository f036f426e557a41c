import { projectNameForm } from "@coffer/domain/NameForms"
import type { OrgName } from "@coffer/domain/Names"
import { maxPageSize } from "@coffer/domain/Schemas"
import * as Effect from "effect/Effect"
import { call } from "../../client/Calls.js"
import { CreateForm } from "../../kit/CreateForm.js"
import { useLoad } from "../../kit/Load.js"
import { Reading } from "../../kit/Reading.js"
import { WhomToAsk } from "../../kit/WhomToAsk.js"
import { Link } from "../../routing/Link.js"
import { projectAddress } from "../../routing/Places.js"
import { navigate } from "../../routing/Router.js"
import { mayInOrg } from "../../state/Organizations.js"
import type { PageProps } from "../PageProps.js"

const read = (org: OrgName) =>
  Effect.map(
    call("projects", (api) => api.list({ path: { org_name: org } })),
    ({ data }) => data
  )

const Create = ({ org }: { readonly org: OrgName }) => (
  <CreateForm
    what="project"
    example="webshop"
    form={projectNameForm}
    create={(name) => call("projects", (api) => api.create({ path: { org_name: org }, payload: { name } }))}
    done={(made) => {
      navigate(projectAddress(org, made.name))
    }}
  />
)

/** Whether the caller has no permission in any environment. A long list of none is not read to its end. */
const isWithoutAccess = (org: OrgName) =>
  Effect.map(
    call("acl", (api) => api.access({ path: { org_name: org }, urlParams: { limit: maxPageSize } })),
    ({ data, pagination }) => pagination.next_cursor === null && data.every(({ permission }) => permission === null)
  )

/** For a person who was invited and has no rule yet. */
const WithoutAccess = ({ org }: { readonly org: OrgName }) => {
  const { loaded } = useLoad(org, () => isWithoutAccess(org))
  return loaded.value.value === true ? (
    <div role="status">
      <h2>You have no access to secrets of {org} yet</h2>
      <p>An access rule says which environments you may read and write.</p>
      <WhomToAsk org={org} />
    </div>
  ) : null
}

/** An organization's overview: its projects. */
export const Page = ({ place: { org } }: PageProps<"org">) => {
  const projects = useLoad(org, () => read(org))
  const isAllowed = mayInOrg(org, "project.create")
  return (
    <section class="narrow">
      <h1>Projects of {org}</h1>
      <Reading of={projects}>
        {(found) =>
          found.length === 0 ? (
            <>
              <p>
                {isAllowed
                  ? "A project groups the secrets of one application. It comes with the environments dev, staging and prod."
                  : "There are no projects yet. An admin or owner creates them."}
              </p>
              {isAllowed && <Create org={org} />}
            </>
          ) : (
            <>
              <ul class="cards">
                {found.map(({ name }) => (
                  <li key={name}>
                    <Link to={projectAddress(org, name)} class="card">
                      <strong>{name}</strong>
                    </Link>
                  </li>
                ))}
              </ul>
              {isAllowed && (
                <details class="more">
                  <summary>New project</summary>
                  <Create org={org} />
                </details>
              )}
            </>
          )
        }
      </Reading>
      {!isAllowed && <WithoutAccess org={org} />}
    </section>
  )
}
