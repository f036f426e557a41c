import { effect } from "@preact/signals"
import type { Command } from "../kit/Commands.js"
import { envOf, type Place } from "../routing/Places.js"
import { currentAddress, place, query } from "../routing/Router.js"
import { pages } from "../pages/Pages.js"
import { to } from "./PlaceCommands.js"

const kept = 6

/** The places that were open last, the newest first, as long as the page is open. */
const visited: Array<{ readonly name: string; readonly command: Command }> = []

const commandOf = (here: Place, address: string): Command => {
  if (here.at === "secret") {
    const env = envOf(query.peek())
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

effect(() => {
  const here = place.value
  if (here === null) return
  const name = JSON.stringify(here)
  const before = visited.findIndex((one) => one.name === name)
  if (before !== -1) visited.splice(before, 1)
  visited.unshift({ name, command: commandOf(here, currentAddress()) })
  visited.length = Math.min(visited.length, kept + 1)
})

/** The places that were open before the one that is. */
export const recentPlaces = (): ReadonlyArray<Command> => visited.slice(1).map(({ command }) => command)
