import { assert, describe, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { cellOf } from "../support/Cells.js"
import { type Json, Person } from "../support/Person.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`

const slowly = (visit: Visit, address: string) =>
  visit.page.route(address, async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 500))
    await route.continue()
  })

describe.skipIf(!hasBrowser())(`dry runs${why}`, () => {
  it("are what a promotion writes, with the way back", async () => {
    const ada = await Person.login("promotes@example.com")
    await ada.organization("promotes", { staging: { ONE: "1", TWO: "2" }, prod: { TWO: "3", OLD: "0" } })
    const visit = await Visit.open("/promotes/webshop/-/promote", ada)
    const dialog = visit.page.locator("dialog")
    await visit.page.getByLabel("ONE").check()
    await slowly(visit, "**/copy")
    await visit.press("Review 1 for prod")
    await visit.page.getByText("Loading…").waitFor()
    // There is nothing to write before the answer, and nothing else to choose beside it.
    assert.strictEqual(await dialog.getByRole("button", { name: "Write to prod" }).count(), 0)
    await visit.page
      .getByLabel("TWO")
      .check({ timeout: 300 })
      .catch(() => {})
    assert.isFalse(await visit.page.getByLabel("TWO").isChecked())
    await dialog.locator("tr").filter({ hasText: "ONE" }).getByText("create").waitFor()
    await visit.isAccessible("review of a promotion")
    await visit.press("Write to prod")
    await visit.sees("Written to prod")
    const keys = async () => {
      const { data } = await ada.call("GET", "/api/orgs/promotes/projects/webshop/envs/prod/secrets")
      return data.map(({ key, version }: Json) => `${key} ${version}`)
    }
    assert.deepStrictEqual(await keys(), ["OLD 1", "ONE 1", "TWO 1"])
    await visit.isAccessible("promote, written")
    await visit.press("Undo")
    await visit.page.getByText("Written to").waitFor({ state: "detached" })
    assert.deepStrictEqual(await keys(), ["OLD 1", "TWO 1"])

    // A change made since the dry run is not overwritten.
    await visit.page.getByLabel("TWO").check()
    await visit.press("Review 1 for prod")
    await dialog.getByText("v1 → v2").waitFor()
    await ada.call("PUT", "/api/orgs/promotes/projects/webshop/envs/prod/secrets/TWO", { value: "of a colleague" })
    await visit.press("Write to prod")
    await dialog.getByRole("alert").waitFor()
    assert.deepStrictEqual(await keys(), ["OLD 1", "TWO 2"])
    await visit.press("Cancel")

    // A write whose response is lost is seen as soon as the dialog is closed.
    await visit.page.getByLabel("TWO").uncheck()
    await visit.page.getByLabel("ONE").check()
    await visit.press("Review 1 for prod")
    await dialog.getByText("create").waitFor()
    await visit.page.route("**/copy", async (route) => {
      await route.fetch()
      await route.abort()
    })
    await visit.press("Write to prod")
    await dialog.getByRole("alert").waitFor()
    await visit.press("Cancel")
    await visit.page.getByLabel("ONE").waitFor({ state: "detached" })
    await visit.close()
  }, 120_000)

  it("begin at a secret with its key alone", async () => {
    const ada = await Person.login("copies@example.com")
    await ada.organization("copies", { dev: { ONE: "1", TWO: "2" } })
    const visit = await Visit.open("/copies/webshop/TWO?env=dev", ada)
    await visit.page.getByRole("heading", { name: "Copy to" }).waitFor()
    await visit.page
      .locator("section")
      .filter({ hasText: "Copy to" })
      .getByRole("link", { name: "prod" })
      .last()
      .click()
    await visit.press("Review 1 for prod")
    await visit.press("Write to prod")
    await visit.sees("Written to prod")
    const { data } = await ada.call("GET", "/api/orgs/copies/projects/webshop/envs/prod/secrets")
    assert.deepStrictEqual(
      data.map(({ key }: Json) => key),
      ["TWO"]
    )
    await visit.close()
  }, 120_000)

  it("of an import are for the environment chosen now", async () => {
    const ada = await Person.login("plans@example.com")
    await ada.organization("plans", { prod: { ONE: "1" } })
    const visit = await Visit.open("/plans/webshop", ada)
    await cellOf(visit, "ONE", "prod").waitFor()
    await slowly(visit, "**/envs/dev/bundle")
    await visit.press("Import")
    await visit.fill("The text of the file", "ONE=1\nNEW=3\n")
    await visit.page.waitForTimeout(400)
    await visit.page.getByLabel("Into").selectOption("prod")
    await visit.page.getByRole("button", { name: "Stage 1 for prod" }).waitFor()
    await visit.close()
  }, 120_000)
})
