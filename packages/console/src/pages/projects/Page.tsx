import { projectNameForm } from "@coffer/domain/base/NameForms"
import type { OrgName, ProjectName } from "@coffer/domain/base/Names"
import type { Project } from "@coffer/domain/directory/Project"
import type { Overview, ProjectOverview } from "@coffer/domain/secrets/Overview"
import { maxPageSize } from "@coffer/domain/base/Schemas"
import * as Effect from "effect/Effect"
import { useComputed } from "@preact/signals"
import { call, type Failure } from "../../client/Calls.js"
import { FirstSteps } from "../../kit/FirstSteps.js"
import { Attention } from "../../kit/Attention.js"
import { CreateDialog, CreateForm } from "../../kit/CreateForm.js"
import { Empty, ListPage, NewButton } from "../../kit/ListPage.js"
import { useLoad } from "../../kit/Load.js"
import { MoreButton, useMore } from "../../kit/More.js"
import { useOpened } from "../../kit/Opened.js"
import { By } from "../../kit/Person.js"
import { Reading } from "../../kit/Reading.js"
import { When } from "../../kit/When.js"
import { WhomToAsk } from "../../kit/WhomToAsk.js"
import { Link } from "../../routing/Link.js"
import { projectAddress } from "../../routing/Places.js"
import { navigate } from "../../routing/Router.js"
import { mayInOrg } from "../../client/Organizations.js"
import { firstRun } from "../../state/FirstRun.js"
import type { PageProps } from "../PageProps.js"

const read = (org: OrgName, after?: string) =>
  call("overview", (api) =>
    api.show({
      path: { org_name: org },
      urlParams: { limit: maxPageSize, ...(after !== undefined && { after }) }
    })
  )

const creation = (org: OrgName) => ({
  what: "project",
  example: "webshop",
  form: projectNameForm,
  create: (name: ProjectName) => call("projects", (api) => api.create({ path: { org_name: org }, payload: { name } })),
  done: (made: Project) => {
    navigate(projectAddress(org, made.name))
  }
})

/** Whether the caller has no permission in any environment. A long list of none is not read to its end. */
const isWithoutAccess = (org: OrgName) =>
  Effect.map(
    call("acl", (api) => api.access({ path: { org_name: org }, urlParams: { limit: maxPageSize } })),
    ({ data, pagination }) =>
      pagination.next_cursor === null &&
      data.every(({ permission, permission_for_some }) => (permission_for_some ?? permission) === null)
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

const Row = ({ of: one, org }: { readonly org: OrgName; readonly of: ProjectOverview }) => (
  <tr>
    <th scope="row">
      <Link to={projectAddress(org, one.project)} class="row-link">
        {one.project}
      </Link>
    </th>
    <td>{one.environments.toLocaleString("en")}</td>
    <td>{one.keys.toLocaleString("en")}</td>
    <td class="quiet">
      {one.changed_at === null ? (
        "none yet"
      ) : one.changed_by === null ? (
        <When time={one.changed_at} />
      ) : (
        <By time={one.changed_at} who={one.changed_by} />
      )}
    </td>
  </tr>
)

/** In place of the list: the second step of a newcomer. */
const FirstProject = ({ isAllowed, org }: { readonly org: OrgName; readonly isAllowed: boolean }) =>
  isAllowed ? (
    <div class="first-run">
      {firstRun.value?.org === org && <FirstSteps at="Project" />}
      <h2>Name the first project</h2>
      <p>A project groups the secrets of one application. It comes with the environments dev, staging and prod.</p>
      <CreateForm {...creation(org)} isFirst />
    </div>
  ) : (
    <Empty title="There are no projects yet">
      <p>An admin or owner creates them.</p>
    </Empty>
  )

type First = ReturnType<typeof useLoad<Overview, Failure>>

const Projects = ({ first, org, page }: { readonly org: OrgName; readonly first: First; readonly page: Overview }) => {
  const more = useMore<ProjectOverview>(org)
  const isNew = useOpened("new")
  const loaded = useComputed(() => {
    const { value, ...state } = first.loaded.value
    return { ...state, value: value === null ? null : [...value.data, ...more.rows.value] }
  })
  const isAll = (loaded.value.value?.length ?? 0) === page.projects
  const isAllowed = mayInOrg(org, "project.create")
  return (
    <>
      <ListPage
        title={`Projects of ${org}`}
        count={page.projects}
        create={isAllowed && <NewButton open={isNew.open}>New project</NewButton>}
        of={{ loaded, reload: first.reload }}
        heads={["Project", "Environments", "Secrets", "Last change"]}
        // A filter of a part would hide the others.
        {...(isAll && { textOf: ({ project }: ProjectOverview) => project })}
        empty={null}
        row={(one) => <Row key={one.project} org={org} of={one} />}
      >
        <MoreButton first={page} more={more} read={(after) => read(org, after)}>
          More of {page.projects.toLocaleString("en")} projects
        </MoreButton>
        <Attention found={new Map([[org, page]])} />
        {!isAllowed && <WithoutAccess org={org} />}
      </ListPage>
      {isNew.value !== null && isAllowed && <CreateDialog {...creation(org)} close={isNew.close} />}
    </>
  )
}

/** An organization's overview: its projects, and what is due and waits in them. */
export const Page = ({ place: { org } }: PageProps<"org">) => {
  const first = useLoad(org, () => read(org))
  const page = first.loaded.value.value
  if (page !== null && page.projects > 0) return <Projects org={org} first={first} page={page} />
  const isAllowed = mayInOrg(org, "project.create")
  return (
    <section class="wide-page">
      <h1>Projects of {org}</h1>
      <Reading of={first}>{() => <FirstProject org={org} isAllowed={isAllowed} />}</Reading>
      {!isAllowed && <WithoutAccess org={org} />}
    </section>
  )
}
