import type { OrgName } from "@coffer/domain/base/Names"
import * as Effect from "effect/Effect"
import { useEffect } from "preact/hooks"
import { call } from "../client/Calls.js"
import { isJoined, organizations } from "../client/Organizations.js"
import { Icon } from "../kit/Icon.js"
import type { PageRow } from "../pages/Pages.js"
import { missingFor, shownPages } from "../pages/Shown.js"
import { Link } from "../routing/Link.js"
import { orgAddress, type Place, projectAddress, serverAddress } from "../routing/Places.js"
import { waiting } from "../client/Waiting.js"
import { CrumbMenu } from "./CrumbMenu.js"

interface TabProps {
  /** Whether the row is of the kind of place that is open. */
  readonly isOf: boolean
  readonly row: Pick<PageRow<Place["at"]>, "icon" | "page" | "title" | "need">
  readonly to: string
  readonly place: Place
  readonly org: OrgName | null
}

const Count = ({ count }: { readonly count: number }) =>
  count === 0 ? null : (
    <span class="badge warn tab-count">
      {count}
      <span class="hidden"> waiting</span>
    </span>
  )

/** On a narrow screen, the tabs are wider than the page. */
const showCurrent = () => {
  const tab = document.querySelector<HTMLElement>(".tabs > [aria-current]")
  const tabs = tab?.parentElement
  if (tab !== null && tabs !== null && tabs !== undefined) {
    tabs.scrollLeft = tab.offsetLeft - (tabs.clientWidth - tab.offsetWidth) / 2
  }
}

const Tab = ({ isOf, org, place, row, to }: TabProps) => {
  const why = missingFor(row, org)
  const isCurrent = place.page === row.page && isOf
  // Each time: the tabs beside it have other widths once the session is known.
  useEffect(() => {
    if (isCurrent) showCurrent()
  })
  return why === null ? (
    <Link to={to} class="tab" isCurrent={isCurrent}>
      <Icon of={row.icon} />
      {row.title}
      {row.page === "approvals" && org !== null && <Count count={waiting.value.get(org) ?? 0} />}
    </Link>
  ) : (
    <span class="tab off" title={why}>
      <Icon of={row.icon} />
      {row.title}
      <span class="hidden">, {why}</span>
    </span>
  )
}

/** The pages of the organization, or of the server: at the side of a wide window, else as tabs of their own pages. */
export const Side = ({ place }: { readonly place: Place }) =>
  place.at === "server" ? (
    <nav class="tabs side" aria-label="Server">
      {shownPages("server").map((row) => (
        <Tab key={row.page} row={row} to={serverAddress(row.page)} place={place} isOf org={null} />
      ))}
    </nav>
  ) : (
    <nav class={place.at === "org" ? "tabs side" : "tabs side outer"} aria-label="Organization">
      {shownPages("org").map((row) => (
        <Tab
          key={row.page}
          row={row}
          to={orgAddress(place.org, row.page)}
          place={place}
          isOf={place.at === "org"}
          org={place.org}
        />
      ))}
    </nav>
  )

/** The pages of a project. */
export const Tabs = ({ place }: { readonly place: Place }) =>
  place.at !== "project" && place.at !== "secret" ? null : (
    <nav class="tabs" aria-label="Project">
      {shownPages("project").map((row) => (
        <Tab
          key={row.page}
          row={row}
          to={projectAddress(place.org, place.project, row.page)}
          place={place}
          isOf
          org={place.org}
        />
      ))}
    </nav>
  )

const otherOrgs = Effect.sync(() => organizations.peek().map(({ name }) => ({ name, to: orgAddress(name) })))

const projectsOf = (org: OrgName) =>
  Effect.map(
    call("projects", (api) => api.list({ path: { org_name: org } })),
    ({ data }) => data.map(({ name }) => ({ name, to: projectAddress(org, name) }))
  )

/** Not part of a name. */
const Separator = () => (
  <span class="crumb-separator" aria-hidden="true">
    /
  </span>
)

/** Where the page is, outermost first. */
export const Breadcrumb = ({ place }: { readonly place: Place | null }) => (
  <nav class="crumbs" aria-label="Place">
    {place !== null && place.at !== "server" && (
      <>
        <Separator />
        <Link to={orgAddress(place.org)} class="crumb">
          {place.org}
        </Link>
        {organizations.value.length > 1 && (
          <CrumbMenu what="organization" current={place.org} list="" read={() => otherOrgs} />
        )}
      </>
    )}
    {(place?.at === "project" || place?.at === "secret") && (
      <>
        <Separator />
        <Link to={projectAddress(place.org, place.project)} class="crumb">
          {place.project}
        </Link>
        {organizations.value.some((one) => one.name === place.org && isJoined(one)) && (
          <CrumbMenu what="project" current={place.project} list={place.org} read={() => projectsOf(place.org)} />
        )}
      </>
    )}
    {place?.at === "secret" && (
      <>
        <Separator />
        <span class="crumb key">{place.key}</span>
      </>
    )}
  </nav>
)
