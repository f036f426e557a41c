import type { OrgName } from "@coffer/domain/base/Names"
import type { Place } from "../routing/Places.js"
import { missingInOrg } from "../client/Organizations.js"
import { me } from "../state/Session.js"
import { type PageRow, pages } from "./Pages.js"

/** The pages of a place that are shown to the person. */
export const shownPages = <At extends Place["at"]>(at: At): ReadonlyArray<PageRow<At>> => {
  const rows: ReadonlyArray<PageRow<At>> = pages[at]
  return rows.filter(
    ({ isForPrograms, need }) => isForPrograms !== true && (need !== "superadmin" || me.value?.is_superadmin === true)
  )
}

/** The right that is missing for a page, in words; null if none is. */
export const missingFor = ({ need }: Pick<PageRow<Place["at"]>, "need">, org: OrgName | null): string | null => {
  if (need === undefined) return null
  if (need !== "superadmin") return org === null ? null : missingInOrg(org, need)
  return me.value?.is_superadmin === true ? null : "needs a superadmin"
}

/** Loads the script of the page of a place before its session is known, in which the page is shown or refused. */
export const preloadPage = (place: Place | null): void => {
  const rows: ReadonlyArray<{ readonly page: string; readonly load: () => Promise<unknown> }> =
    place === null ? [] : pages[place.at]
  const row = rows.find(({ page }) => page === place?.page)
  row?.load().catch(() => {})
}
