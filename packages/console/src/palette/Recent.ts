import type { Command } from "../kit/Commands.js"
import { envOf, type Place, placeOf } from "../routing/Places.js"
import { pages } from "../pages/Pages.js"
import { visitedBefore } from "../state/Visited.js"
import { to } from "./PlaceCommands.js"

const commandOf = (here: Place, address: string, query: URLSearchParams): Command => {
  if (here.at === "secret") {
    const env = envOf(query)
    return to("Keys", here.key, `key of ${here.project}${env === null ? "" : `, ${env}`}`, address)
  }
  const rows: ReadonlyArray<{ readonly page: string; readonly title: string }> = pages[here.at]
  const title = rows.find(({ page }) => page === here.page)?.title ?? here.page
  if (here.at === "project") return to("Pages", `${here.project} ${title}`, here.org, address)
  return to(
    "Pages",
    here.at === "org" ? `${here.org} ${title}` : title,
    here.at === "org" ? here.org : "server",
    address
  )
}

/** The places that were open before the one that is. */
export const recentPlaces = (): ReadonlyArray<Command> =>
  visitedBefore().flatMap((address) => {
    const { pathname, searchParams } = new URL(address, location.origin)
    const here = placeOf(pathname)
    return here === null ? [] : [commandOf(here, address, searchParams)]
  })
