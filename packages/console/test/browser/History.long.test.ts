import { assert, describe, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { type Json, Person } from "../support/Person.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`

describe.skipIf(!hasBrowser())(`the history of a project${why}`, { timeout: 120_000 }, () => {
  it("lists the changes of all environments, opens each, and goes back to one with its dry run first", async () => {
    const ada = await Person.login("history@example.com")
    await ada.organization("remembers", { dev: { ONE: "canary-1", TWO: "2" }, prod: { ONE: "canary-3" } })
    const env = "/api/orgs/remembers/projects/webshop/envs/dev"
    await ada.call("PATCH", `${env}/bundle`, { set: { ONE: "canary-4" }, delete: ["TWO"] })
    const visit = await Visit.open("/remembers/webshop", ada)
    await visit.page.getByRole("link", { name: "History" }).click()
    const rows = visit.page.getByRole("row")
    await visit.page.getByRole("row", { name: /dev revision 2/ }).waitFor()
    assert.strictEqual(await rows.count(), 4)
    await visit.isAccessible("history")

    // By the keyboard alone: open a revision, try the revert, write it, take it back.
    const older = visit.page.getByRole("row", { name: /dev revision 1/ })
    await visit.page
      .getByRole("row", { name: /dev revision 2/ })
      .locator("summary")
      .press("Enter")
    await visit.page.getByText("v1 → v2").waitFor()
    await older.getByRole("button", { name: "Revert to here (dev, revision 1)" }).press("Enter")
    const dialog = visit.page.locator("dialog")
    await dialog.locator("tr").filter({ hasText: "TWO" }).getByText("create").waitFor()
    await dialog.locator("tr").filter({ hasText: "ONE" }).getByText("v2 → v3").waitFor()
    await visit.isAccessible("the dry run of a revert")
    const keys = async () => {
      const { data } = await ada.call("GET", `${env}/secrets`)
      return data.map(({ key, version }: Json) => `${key} ${version}`)
    }
    assert.deepStrictEqual(await keys(), ["ONE 2"])
    await dialog.getByRole("button", { name: "Revert dev" }).press("Enter")
    await visit.sees("Written to")
    await visit.page.getByRole("row", { name: /dev revision 3.*current/ }).waitFor()
    assert.deepStrictEqual(await keys(), ["ONE 3", "TWO 1"])
    await visit.isAccessible("history, reverted")
    await visit.page.getByRole("button", { name: "Undo" }).press("Enter")
    await visit.page.getByRole("row", { name: /dev revision 4.*current/ }).waitFor()
    assert.deepStrictEqual(await keys(), ["ONE 4"])

    // A change made since the dry run is not overwritten.
    await visit.press("Revert to here (dev, revision 3)")
    await dialog.getByRole("button", { name: "Revert dev" }).waitFor()
    await ada.call("PUT", `${env}/secrets/THREE`, { value: "of a colleague" })
    await dialog.getByRole("button", { name: "Revert dev" }).click()
    await dialog.getByRole("alert").waitFor()
    assert.deepStrictEqual(await keys(), ["ONE 4", "THREE 1"])
    assert.notInclude(await visit.page.content(), "canary-")
    await visit.press("Cancel")
    await visit.close()
  })

  it("names the right that a revert needs, and tries nothing without it", async () => {
    const ada = await Person.login("past@example.com")
    await ada.organization("past", { dev: { ONE: "1" }, prod: { ONE: "1" } })
    await ada.call("PUT", "/api/orgs/past/projects/webshop/envs/dev/secrets/ONE", { value: "2" })
    await ada.call("POST", "/api/orgs/past/members", { email: "reader@example.com", role: "developer" })
    await ada.call("POST", "/api/orgs/past/acl", {
      ...{ subject_type: "user", email: "reader@example.com", permission: "read" },
      ...{ project_pattern: "*", env_pattern: "dev" }
    })
    const visit = await Visit.open("/past/webshop/-/history", await Person.login("reader@example.com"))
    await visit.press("Revert to here (dev, revision 1)")
    await visit.sees("You may not write to dev")
    assert.strictEqual(await visit.page.getByRole("row", { name: /prod/ }).count(), 0)
    const { data } = await ada.call("GET", "/api/orgs/past/audit-logs?action=access.denied")
    assert.lengthOf(data, 0)
    await visit.close()
  })

  it("has the order of its environments from its settings, by the keyboard or by the mouse", async () => {
    const ada = await Person.login("orders@example.com")
    await ada.organization("stages", { dev: { ONE: "1" }, prod: { ONE: "2" } })
    const visit = await Visit.open("/stages/webshop/-/settings", ada)
    const shown = async (...order: ReadonlyArray<string>) => {
      await visit.page.waitForFunction(
        (wanted) => [...document.querySelectorAll("tbody th a")].map((one) => one.textContent).join() === wanted,
        order.join()
      )
    }
    await shown("dev", "staging", "prod")
    await visit.page.getByRole("button", { name: "Move prod up" }).focus()
    await visit.page.keyboard.press("Enter")
    await shown("dev", "prod", "staging")
    await visit.page.keyboard.press("Enter")
    await visit.sees("prod is number 1 of 3.")
    const focused = () => visit.page.evaluate(() => document.activeElement?.getAttribute("aria-label"))
    assert.strictEqual(await focused(), "Move prod down", "it cannot go further up")
    await visit.isAccessible("an order that is not saved")
    await visit.page.getByRole("button", { name: "Save the order" }).press("Enter")
    await visit.page.getByRole("button", { name: "Usual order" }).waitFor()
    await visit.isAccessible("an order of its own")
    await visit.page.getByRole("row", { name: /staging/ }).dragTo(visit.page.getByRole("row", { name: /prod/ }))
    await shown("staging", "prod", "dev")
    await visit.press("Save the order")
    await visit.page.getByRole("button", { name: "Usual order" }).waitFor()
    await visit.page.getByRole("link", { name: "Matrix" }).click()
    await visit.page.getByRole("columnheader", { name: "staging" }).waitFor()
    const heads = await visit.page.getByRole("columnheader").allInnerTexts()
    assert.deepStrictEqual(heads.slice(1), ["staging", "prod", "dev"])
    await visit.page.getByRole("link", { name: "Promote" }).click()
    await visit.page.getByLabel("From").waitFor()
    assert.deepStrictEqual(await visit.page.getByLabel("From").locator("option").allInnerTexts(), [
      "staging",
      "prod",
      "dev"
    ])
    await visit.close()
  })
})
