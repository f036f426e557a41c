import { pages } from "../pages/Pages.js"
import type { Place } from "../routing/Places.js"

const nameOf = (place: Place): string => {
  switch (place.at) {
    case "server":
      return ""
    case "org":
      return place.org
    case "project":
      return `${place.org}/${place.project}`
    case "secret":
      return `${place.key} · ${place.org}/${place.project}`
  }
}

/** The title of the window: names of places, never a value. `count` requests wait for the person. */
export const titleOf = (place: Place | null, count = 0): string => {
  if (place === null) return "Coffer"
  const waiting = count === 0 ? "" : `(${count}) `
  const rows: ReadonlyArray<{ readonly page: string; readonly title: string }> = pages[place.at]
  const title = place.page === "" ? "" : (rows.find(({ page }) => page === place.page)?.title ?? "")
  return waiting + [title, nameOf(place), "Coffer"].filter((part) => part !== "").join(" · ")
}
