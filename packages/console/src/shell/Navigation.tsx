import type { OrgName } from "@coffer/domain/base/Names"
import { useEffect } from "preact/hooks"
import type { PageRow } from "../pages/Pages.js"
import { missingFor, shownPages } from "../pages/Shown.js"
import { Link } from "../routing/Link.js"
import { orgAddress, type Place, projectAddress, serverAddress } from "../routing/Places.js"
import { waiting } from "../client/Waiting.js"

interface TabProps {
  readonly row: Pick<PageRow<Place["at"]>, "page" | "title" | "need">
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

const Tab = ({ org, place, row, to }: TabProps) => {
  const why = missingFor(row, org)
  const isCurrent = place.page === row.page
  // Each time: the tabs beside it have other widths once the session is known.
  useEffect(() => {
    if (isCurrent) showCurrent()
  })
  return why === null ? (
    <Link to={to} class="tab" isCurrent={isCurrent}>
      {row.title}
      {row.page === "approvals" && org !== null && <Count count={waiting.value.get(org) ?? 0} />}
    </Link>
  ) : (
    <span class="tab off" title={why}>
      {row.title}
      <span class="hidden">, {why}</span>
    </span>
  )
}

/** The pages of the place that is open. */
export const Tabs = ({ place }: { readonly place: Place }) => {
  switch (place.at) {
    case "server":
      return (
        <nav class="tabs" aria-label="Server">
          {shownPages("server").map((row) => (
            <Tab key={row.page} row={row} to={serverAddress(row.page)} place={place} org={null} />
          ))}
        </nav>
      )
    case "org":
      return (
        <nav class="tabs" aria-label="Organization">
          {shownPages("org").map((row) => (
            <Tab key={row.page} row={row} to={orgAddress(place.org, row.page)} place={place} org={place.org} />
          ))}
        </nav>
      )
    case "project":
    case "secret":
      return (
        <nav class="tabs" aria-label="Project">
          {shownPages("project").map((row) => (
            <Tab
              key={row.page}
              row={row}
              to={projectAddress(place.org, place.project, row.page)}
              place={place}
              org={place.org}
            />
          ))}
        </nav>
      )
  }
}

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
      </>
    )}
    {(place?.at === "project" || place?.at === "secret") && (
      <>
        <Separator />
        <Link to={projectAddress(place.org, place.project)} class="crumb">
          {place.project}
        </Link>
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
