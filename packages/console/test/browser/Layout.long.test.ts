import { assert, describe, expect, inject, it } from "vitest"
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
    assert.isAtMost(gap.key, 192)
    await visit.close()
  }, 120_000)

  it("begins every page at the same place, cuts no table, and shows the current tab on a telephone", async () => {
    const ada = await Person.login("layout@example.com")
    await ada.organization("layout", { dev: { KEY: "1" }, prod: { KEY: "2" } })
    const path = "/api/orgs/layout/projects/webshop/envs/prod/secrets"
    for (const value of ["3", "4"]) await ada.call("PUT", `${path}/KEY`, { value })
    await ada.call("PUT", `${path}/A_KEY_WITH_A_RATHER_LONG_NAME_OF_SEVERAL_WORDS`, { value: "5" })
    const { id } = await ada.call("POST", "/api/orgs/layout/service-accounts", { name: "deploy", project: "webshop" })
    const rule = { subject_type: "service_account", subject_id: id, permission: "read" }
    await ada.call("POST", "/api/orgs/layout/acl", { ...rule, project_pattern: "webshop", env_pattern: "prod" })
    const visit = await Visit.open("/", ada)
    const { page } = visit
    const starts = new Map<string, number>()
    const ofOrg = ["members", "rules", "accounts", "approvals", "audit", "settings"].map((name) => `/layout/-/${name}`)
    const ofProject = ["/-/promote", "/-/history", "/-/who", "/-/settings", "/KEY?env=prod"].map(
      (name) => `/layout/webshop${name}`
    )
    for (const path of ["/", "/layout", ...ofOrg, ...ofProject]) {
      await page.goto(inject("server").url + path)
      await page.locator("h1").waitFor()
      await page.locator(".loading").first().waitFor({ state: "detached" })
      const found: Json = await page.evaluate(`({
        start: document.querySelector("h1").getBoundingClientRect().left,
        cut: [...document.querySelectorAll(".scroll")].filter((one) => one.scrollWidth > one.clientWidth).length,
        broken: [...document.querySelectorAll("time")].filter((one) => one.getClientRects().length > 1).length
      })`)
      starts.set(path, found.start)
      assert.deepInclude(found, { cut: 0, broken: 0 }, path)
    }
    assert.strictEqual(new Set(starts.values()).size, 1, JSON.stringify([...starts]))
    await page.setViewportSize({ width: 390, height: 844 })
    for (const path of ["/layout/-/approvals", "/layout/-/settings", "/layout/-/members"]) {
      await page.goto(inject("server").url + path)
      await page.locator("h1").waitFor()
      const isCurrentShown = () =>
        page.evaluate(`{
          const { left, right } = document.querySelector(".tabs > [aria-current]").getBoundingClientRect()
          left >= 0 && right <= innerWidth
        }`)
      await expect.poll(isCurrentShown, { message: path }).toBe(true)
    }
    await visit.close()
  }, 120_000)

  it("keeps the button that creates beside the title on a telephone and in the matrix, and addresses whole in the palette", async () => {
    const ada = await Person.login("heads@example.com")
    await ada.organization("heads", { dev: { KEY: "1" }, prod: { KEY: "2" } })
    const long = "a-person-with-a-rather-long-address@a-subdomain.example.com"
    await ada.call("POST", "/api/orgs/heads/members", { email: long, role: "member" })
    const visit = await Visit.open("/heads/-/members", ada)
    const { page } = visit
    const topOf = async (selector: string) => (await page.locator(selector).first().boundingBox())?.y ?? 0
    await page.setViewportSize({ width: 390, height: 844 })
    for (const [path, title] of [
      ["/heads/-/members", "h1"],
      ["/heads/-/accounts", "h1"],
      ["/heads/webshop", "#matrix-filter"]
    ] as const) {
      await page.goto(inject("server").url + path)
      await page.locator("#page .primary").first().waitFor()
      assert.closeTo(await topOf("#page .primary"), await topOf(title), 12, path)
    }
    await page.setViewportSize({ width: 1024, height: 768 })
    assert.closeTo(await topOf("#page .primary"), await topOf("#matrix-filter"), 2)
    await page.keyboard.press("Control+k")
    await page.locator(".palette input").fill("rather-long")
    const found = page.getByRole("option", { name: long })
    await found.waitFor()
    assert.isBelow((await found.locator("span").first().boundingBox())?.height ?? 99, 30, "the address is on one line")
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
