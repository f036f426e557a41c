import { envNameForm, projectNameForm } from "@coffer/domain/NameForms"
import type { EnvName } from "@coffer/domain/Names"
import { call } from "../../client/Calls.js"
import { environmentNames } from "../../client/Environments.js"
import { CreateForm } from "../../kit/CreateForm.js"
import { Delete } from "../../kit/Delete.js"
import { useLoad } from "../../kit/Load.js"
import { Reading } from "../../kit/Reading.js"
import { Rename } from "../../kit/Rename.js"
import { Table } from "../../kit/Table.js"
import { Link } from "../../routing/Link.js"
import { envAddress, orgAddress, projectAddress } from "../../routing/Places.js"
import { navigate } from "../../routing/Router.js"
import { missingInOrg } from "../../state/Organizations.js"
import type { PageProps, PlaceAt } from "../PageProps.js"
import { Strict } from "./Strict.js"

const Environments = ({ place: { org, project } }: { readonly place: PlaceAt<"project"> }) => {
  const path = { org_name: org, project_name: project }
  const found = useLoad(`${org}/${project}`, () => environmentNames(org, project))
  const whyNot = missingInOrg(org, "env.create")
  const remove = (env: EnvName) =>
    call("environments", (api) => api.delete({ path: { ...path, env_name: env }, urlParams: {} }))
  return (
    <>
      <Reading of={found}>
        {(envs) => (
          <Table label="Environments" heads={["Environment", ""]}>
            {envs.map((name) => (
              <tr key={name}>
                <th scope="row">
                  <Link to={envAddress(org, project, name)}>{name}</Link>
                </th>
                <td class="actions">
                  <Delete
                    what="environment"
                    name={name}
                    why={missingInOrg(org, "env.delete")}
                    remove={remove(name)}
                    done={found.reload}
                  >
                    <p>
                      All secrets of {name} in {project} are gone at once, with their versions and use rules. What runs
                      with them gets none any more. Only a backup has them.
                    </p>
                  </Delete>
                </td>
              </tr>
            ))}
          </Table>
        )}
      </Reading>
      {whyNot === null ? (
        <CreateForm
          what="environment"
          example="preview"
          form={envNameForm}
          create={(name) => call("environments", (api) => api.create({ path, payload: { name } }))}
          done={found.reload}
        />
      ) : (
        <p class="quiet">To create environments, one {whyNot}.</p>
      )}
    </>
  )
}

/** The environments of a project, how strict it is, its name, and its end. */
export const Page = ({ place }: PageProps<"project">) => {
  const { org, project } = place
  const path = { org_name: org, project_name: project }
  return (
    <section class="narrow">
      <h1>Settings of {project}</h1>
      <h2>Environments</h2>
      <Environments place={place} />
      <h2>Declared keys</h2>
      <Strict path={path} why={missingInOrg(org, "project.update")} />
      <h2>Name</h2>
      <Rename
        key={project}
        what="project"
        name={project}
        form={projectNameForm}
        hint="Access rules match names by pattern: another name may change who has access."
        why={missingInOrg(org, "project.update")}
        rename={(name) => call("projects", (api) => api.rename({ path, payload: { name } }))}
        done={({ name }) => {
          navigate(projectAddress(org, name, "settings"), { replace: true })
        }}
      />
      <h2>Delete</h2>
      <p>All environments of {project} and their secrets become inaccessible.</p>
      <Delete
        what="project"
        name={project}
        why={missingInOrg(org, "project.delete")}
        remove={call("projects", (api) => api.delete({ path }))}
        done={() => {
          navigate(orgAddress(org), { replace: true })
        }}
      >
        <p>
          All environments of {project} are gone at once, with their secrets. What runs with them gets none any more.
          Only a backup has them.
        </p>
      </Delete>
    </section>
  )
}
