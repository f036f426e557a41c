import { defined } from "@coffer/domain/base/Defined"
import { orgNameForm } from "@coffer/domain/base/NameForms"
import type { OrgName } from "@coffer/domain/base/Names"
import type { Organization } from "@coffer/domain/directory/Organization"
import type { Overview } from "@coffer/domain/secrets/Overview"
import { useComputed, useSignal } from "@preact/signals"
import * as Effect from "effect/Effect"
import { call } from "../../client/Calls.js"
import { FirstSteps } from "../../kit/FirstSteps.js"
import { Attention } from "../../kit/Attention.js"
import { CreateDialog, CreateForm } from "../../kit/CreateForm.js"
import { ListPage, NewButton } from "../../kit/ListPage.js"
import { useLoad } from "../../kit/Load.js"
import { Menu, MenuItem } from "../../kit/Menu.js"
import { useOpened } from "../../kit/Opened.js"
import { Reading } from "../../kit/Reading.js"
import { Removed } from "../../kit/Removed.js"
import { When } from "../../kit/When.js"
import { Link } from "../../routing/Link.js"
import { orgAddress } from "../../routing/Places.js"
import { navigate } from "../../routing/Router.js"
import { noteWaiting } from "../../client/Waiting.js"
import { isJoined, organizations, readOrganizations } from "../../client/Organizations.js"
import { beginFirstRun } from "../../state/FirstRun.js"
import { facts } from "../../state/Server.js"
import { me } from "../../state/Session.js"
import { LeaveDialog, LeaveLabel } from "./Leave.js"

/** Of more organizations, the page reads no numbers. */
const regarded = 10
const atOnce = 20

const mayCreate = () => facts.value?.org_creation !== "superadmin" || me.value?.is_superadmin === true

const whyNotCreate = "Only superadmins create organizations on this server: ask one of them."

const creation = {
  what: "organization",
  example: "acme",
  form: orgNameForm,
  create: (name: OrgName) =>
    Effect.tap(
      call("organizations", (api) => api.create({ payload: { name } })),
      (made) => Effect.sync(() => (organizations.value = [...organizations.value, made]))
    ),
  done: ({ name }: Organization) => {
    navigate(orgAddress(name))
  }
}

/** How much is in organizations, of the first ones. */
const read = (found: ReadonlyArray<Organization>) =>
  Effect.map(
    Effect.forEach(
      found.slice(0, regarded),
      ({ name }) =>
        call("overview", (api) => api.show({ path: { org_name: name }, urlParams: { limit: atOnce } })).pipe(
          Effect.map((overview) => {
            noteWaiting(name, overview.waiting ?? 0)
            return [[name, overview] as const]
          }),
          Effect.orElseSucceed(() => [])
        ),
      { concurrency: 4 }
    ),
    (overviews): ReadonlyMap<OrgName, Overview> => new Map(overviews.flat())
  )

/** The last change of all projects; null if there are more than were read, or none has changed. */
const lastChange = ({ data, pagination }: Overview) =>
  pagination.has_next
    ? null
    : data.reduce<string | null>(
        (last, { changed_at }) => (changed_at !== null && changed_at > (last ?? "") ? changed_at : last),
        null
      )

const Row = ({
  org: { accepted, name, role },
  overview
}: {
  readonly org: Organization
  readonly overview?: Overview | undefined
}) => {
  const changed = overview === undefined ? null : lastChange(overview)
  const isLeaving = useSignal(false)
  const leaving = { isInvited: accepted === false, name }
  return (
    <tr>
      <th scope="row">
        <Link to={orgAddress(name)} class="row-link">
          {name}
        </Link>
      </th>
      <td>
        {role ?? "superadmin"} {accepted === false && <span class="badge">invited</span>}
      </td>
      <td>{overview?.projects.toLocaleString("en")}</td>
      <td class="quiet">{changed !== null && <When time={changed} />}</td>
      <td class="actions">
        {role !== null && (
          <Menu label={`Actions for ${name}`}>
            <MenuItem run={() => (isLeaving.value = true)}>
              <LeaveLabel {...leaving} />
            </MenuItem>
          </Menu>
        )}
        {isLeaving.value && <LeaveDialog {...leaving} close={() => (isLeaving.value = false)} />}
      </td>
    </tr>
  )
}

/** Those that the caller may bring back. */
const RemovedOrganizations = ({ found }: { readonly found: ReadonlyArray<Organization> }) => (
  <Removed
    what="organization"
    of={found.map(({ id }) => id).join(" ")}
    form={orgNameForm}
    list={call("trash", (api) => api.organizations({ urlParams: {} }))}
    restore={(removed_id, name) =>
      Effect.zipRight(
        call("trash", (api) => api.restoreOrganization({ path: { removed_id }, payload: defined({ name }) })),
        readOrganizations
      )
    }
    erase={(removed_id, name) =>
      call("trash", (api) => api.eraseOrganization({ path: { removed_id }, payload: { name } }))
    }
    done={() => undefined}
  />
)

/** The list stands before the numbers have come. */
const Regarded = ({ found }: { readonly found: ReadonlyArray<Organization> }) => {
  const joined = found.filter(isJoined)
  const overviews = useLoad(joined.map(({ name }) => name).join(" "), () => read(joined))
  const numbers = overviews.loaded.value.value ?? new Map<OrgName, Overview>()
  const loaded = useComputed(() => ({ value: organizations.value, failure: null, isLoading: false }))
  const isNew = useOpened("new")
  return (
    <>
      <ListPage
        title="Organizations"
        {...(!mayCreate() && { about: whyNotCreate })}
        create={mayCreate() && <NewButton open={isNew.open}>New organization</NewButton>}
        of={{ loaded, reload: () => undefined }}
        heads={["Organization", "Your role", "Projects", "Last change", ""]}
        textOf={({ name, role }) => `${name} ${role ?? "superadmin"}`}
        empty={null}
        row={(org) => <Row key={org.name} org={org} overview={numbers.get(org.name)} />}
      >
        <RemovedOrganizations found={found} />
        <Reading of={overviews}>{(found) => <Attention found={found} />}</Reading>
        {joined.length > regarded && (
          <p class="quiet" role="note">
            What is due, waits or fails is shown for the first {regarded} organizations.{" "}
            {joined.length === regarded + 1
              ? "1 more is"
              : `${(joined.length - regarded).toLocaleString("en")} more are`}{" "}
            not regarded here: open an organization to see what is due in it.
          </p>
        )}
      </ListPage>
      {isNew.value !== null && mayCreate() && <CreateDialog {...creation} close={isNew.close} />}
    </>
  )
}

/** The caller's organizations. The first page of a newcomer. */
export const Page = () => {
  const found = organizations.value
  if (found.length === 0) {
    return (
      <section class="first-run">
        <FirstSteps at="Organization" />
        <h1>Welcome to Coffer</h1>
        <p>
          An organization holds your projects, the people and machines that use them, and the log of everything that
          happens. You will be its owner.
        </p>
        {mayCreate() ? (
          <CreateForm
            {...creation}
            isFirst
            done={(made) => {
              beginFirstRun(made.name)
              creation.done(made)
            }}
          />
        ) : (
          <p class="quiet">{whyNotCreate}</p>
        )}
        <RemovedOrganizations found={found} />
      </section>
    )
  }
  return <Regarded found={found} />
}
