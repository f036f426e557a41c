import { useSignal } from "@preact/signals"
import type { ComponentType } from "preact"
import { useEffect } from "preact/hooks"
import { sentence } from "../kit/Problem.js"
import type { PageProps, PlaceAt } from "../pages/PageProps.js"
import { type PageRow, pages } from "../pages/Pages.js"
import { missingFor } from "../pages/Shown.js"
import type { Place } from "../routing/Places.js"
import { isInvitedTo } from "../client/Organizations.js"
import { InvitationPage } from "./InvitationPage.js"
import { MissingPage } from "./MissingPage.js"

type Loading<At extends Place["at"]> =
  { readonly Page: ComponentType<PageProps<At>> } | { readonly problem: string } | null

interface LazyProps<At extends Place["at"]> {
  readonly row: PageRow<At>
  readonly place: PlaceAt<At>
}

/** Loads a page's own file when it is opened. */
const Lazy = <At extends Place["at"]>({ place, row }: LazyProps<At>) => {
  const loading = useSignal<Loading<At>>(null)
  useEffect(() => {
    row.load().then(
      ({ Page }) => {
        loading.value = { Page }
      },
      () => {
        loading.value = { problem: "this page could not be loaded; reload to try again" }
      }
    )
  }, [row])
  const found = loading.value
  if (found === null) return null
  if ("problem" in found) return <p role="alert">{sentence(found.problem)}</p>
  return <found.Page place={place} />
}

const NoRight = ({ row: { title }, why }: { readonly row: { readonly title: string }; readonly why: string }) => (
  <section class="empty">
    <h1>{title}</h1>
    <p>You may not see this page: it {why}.</p>
  </section>
)

/** Each place has a page of its own: what was typed, opened or said on one is not for another. */
const host = <At extends Place["at"]>(rows: ReadonlyArray<PageRow<At>>, place: PlaceAt<At>) => {
  const row = rows.find(({ page }) => page === place.page)
  if (row === undefined) return <MissingPage />
  // Without the right, no call is made: each would be refused, and recorded as such.
  const why = missingFor(row, "org" in place ? place.org : null)
  return why === null ? <Lazy key={JSON.stringify(place)} row={row} place={place} /> : <NoRight row={row} why={why} />
}

/** The page of a place. */
export const PageHost = ({ place }: { readonly place: Place | null }) => {
  if (place !== null && "org" in place && isInvitedTo(place.org)) return <InvitationPage org={place.org} />
  switch (place?.at) {
    case undefined:
      return <MissingPage />
    case "server":
      return host(pages.server, place)
    case "org":
      return host(pages.org, place)
    case "project":
      return host(pages.project, place)
    case "secret":
      return host(pages.secret, place)
  }
}
