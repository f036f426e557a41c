import { defined } from "@coffer/domain/base/Defined"
import { envNameForm, projectNameForm } from "@coffer/domain/base/NameForms"
import { call } from "../../client/Calls.js"
import { Delete } from "../../kit/Delete.js"
import { noteProject } from "../../kit/Deleted.js"
import { useLoad } from "../../kit/Load.js"
import { Reading } from "../../kit/Reading.js"
import { Removed } from "../../kit/Removed.js"
import { Rename } from "../../kit/Rename.js"
import { orgAddress, projectAddress } from "../../routing/Places.js"
import { navigate } from "../../routing/Router.js"
import { missingInOrg } from "../../client/Organizations.js"
import { noteDone } from "../../state/Done.js"
import { wayBack } from "../../state/Server.js"
import type { PageProps } from "../PageProps.js"
import { EnvironmentSettings } from "./EnvironmentSettings.js"
import { Previews } from "./Previews.js"
import { readSettings } from "./Settings.js"
import { Strict } from "./Strict.js"

/** The environments of a project, the previews that it allows, how strict it is, its name, and its end. */
export const Page = ({ place }: PageProps<"project">) => {
  const { org, project } = place
  const path = { org_name: org, project_name: project }
  const found = useLoad(`${org}/${project}`, () => readSettings(org, project))
  return (
    <section class="narrow">
      <h1>Settings of {project}</h1>
      <Reading of={found}>
        {(settings) => (
          <>
            <EnvironmentSettings place={place} settings={settings} reload={found.reload} />
            {missingInOrg(org, "env.restore") === null && (
              <Removed
                what="environment"
                of={`${org}/${project} ${settings.environments.map(({ id }) => id).join(" ")}`}
                form={envNameForm}
                list={call("trash", (api) => api.environments({ path, urlParams: {} }))}
                restore={(removed_id, name) =>
                  call("trash", (api) =>
                    api.restoreEnvironment({ path: { ...path, removed_id }, payload: defined({ name }) })
                  )
                }
                erase={(removed_id, name) =>
                  call("trash", (api) => api.eraseEnvironment({ path: { ...path, removed_id }, payload: { name } }))
                }
                done={found.reload}
              />
            )}
            <h2>Previews</h2>
            <Previews path={path} settings={settings} reload={found.reload} />
          </>
        )}
      </Reading>
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
          noteDone(`The project ${project} is called ${name} now.`, {
            effect: call("projects", (api) =>
              api.rename({ path: { org_name: org, project_name: name }, payload: { name: project } })
            ),
            done: () => {
              navigate(projectAddress(org, project, "settings"), { replace: true })
            }
          })
        }}
      />
      <section class="danger-zone">
        <h2>Danger</h2>
        <p>All environments of {project} and their secrets become inaccessible.</p>
        <Delete
          what="project"
          name={project}
          why={missingInOrg(org, "project.delete")}
          remove={call("projects", (api) => api.delete({ path }))}
          done={() => {
            navigate(orgAddress(org), { replace: true })
            noteProject(org, project, () => {
              navigate(projectAddress(org, project))
            })
          }}
        >
          <p>
            All environments of {project} are deleted at once, with their secrets. Programs that use them can no longer
            read them. {wayBack(`in the settings of ${org}`)}
          </p>
        </Delete>
      </section>
    </section>
  )
}
