import { assert, describe, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { cellOf } from "../support/Cells.js"
import { type Json, Person } from "../support/Person.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`

describe.skipIf(!hasBrowser())(`the layout${why}`, () => {
  it("names crumbs without their separators, and shows them whole on a telephone", async () => {
    const ada = await Person.login("crumbs@example.com")
    await ada.organization("acme-crumbs", { dev: { KEY: "1" }, staging: { KEY: "2" }, prod: { KEY: "3" } })
    const visit = await Visit.open("/acme-crumbs/webshop", ada)
    await visit.page.setViewportSize({ width: 390, height: 844 })
    await cellOf(visit, "KEY", "dev").waitFor()
    const crumbs = visit.page.getByRole("navigation", { name: "Place" })
    assert.include(await crumbs.ariaSnapshot(), 'link "acme-crumbs"')
    assert.include(await crumbs.ariaSnapshot(), 'link "webshop"')
    const cut: Json = await visit.page.evaluate(
      `[...document.querySelectorAll(".crumb")].filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent)`
    )
    assert.deepStrictEqual(cut, [])
    const gap: Json = await visit.page.evaluate(`{
      const edges = [...document.querySelectorAll(".matrix-body .matrix-row:first-child > *")].map((one) => one.getBoundingClientRect())
      ;({ key: edges[0].width, gap: edges[1].left - edges[0].right })
    }`)
    assert.isAtMost(gap.gap, 1)
    assert.isAtMost(gap.key, 180)
    await visit.close()
  }, 120_000)

  it("aligns checkboxes with the first lines of their labels", async () => {
    const ada = await Person.login("aligns@example.com")
    await ada.organization("aligns", { dev: { KEY: "1" } })
    const visit = await Visit.open("/aligns/webshop", ada)
    await cellOf(visit, "KEY", "dev").click()
    await visit.page.locator(".matrix-panel").getByRole("button", { name: "Edit" }).click()
    await visit.page.locator("#matrix-editor").waitFor()
    for (const width of [390, 1280]) {
      await visit.page.setViewportSize({ width, height: 844 })
      const offsets: ReadonlyArray<number> = await visit.page.evaluate(
        `[...document.querySelectorAll(".check")].map((label) => {
          const box = label.querySelector("input").getBoundingClientRect()
          const range = document.createRange()
          range.selectNodeContents(label.querySelector("span"))
          const line = range.getClientRects()[0]
          return box.top + box.height / 2 - line.top - line.height / 2
        })`
      )
      assert.lengthOf(offsets, 2)
      for (const offset of offsets) assert.isBelow(Math.abs(offset), 3, `at ${width} px`)
    }
    await visit.close()
  }, 120_000)
})
