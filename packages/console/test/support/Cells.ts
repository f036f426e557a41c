import type { Visit } from "./Visit.js"

/** The cell of a key in an environment. */
export const cellOf = (visit: Visit, key: string, env: string) =>
  visit.page.getByRole("gridcell", { name: new RegExp(`^${key} in ${env}: `) })

/** Stages a value for a cell. */
export const edit = async (visit: Visit, key: string, env: string, value: string) => {
  await cellOf(visit, key, env).click()
  await visit.page
    .locator(".matrix-panel")
    .getByRole("button", { name: /^(Edit|Create)$/ })
    .click()
  await visit.page.locator("#matrix-editor").fill(value)
  await visit.page.keyboard.press("Enter")
  await visit.page.getByRole("gridcell", { name: new RegExp(`^${key} in ${env}: .*new value staged`) }).waitFor()
}

/** Writes what is staged for one environment. */
export const writeAll = async (visit: Visit, env: string) => {
  await visit.press("Review and write")
  await visit.press(`Write to ${env}`)
  await visit.sees("Written to")
}
