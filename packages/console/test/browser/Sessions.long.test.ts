import { assert, describe, inject, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { cellOf } from "../support/Cells.js"
import { Person } from "../support/Person.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`

describe.skipIf(!hasBrowser())(`revealed values${why}`, () => {
  it("hides a revealed value within seconds of the end of the session elsewhere", async () => {
    const ada = await Person.login("elsewhere@example.com")
    await ada.organization("elsewhere", { dev: { KEY: "canary-7b1e" } })
    const visit = await Visit.open("/elsewhere/webshop", ada)
    await cellOf(visit, "KEY", "dev").click()
    await visit.press("Reveal")
    await visit.sees("canary-7b1e")
    await ada.call("DELETE", "/api/auth/sessions")
    await visit.page.getByText("canary-7b1e").waitFor({ state: "detached", timeout: 8_000 })
    await visit.sees("Your session has ended")
    assert.notInclude(await visit.page.content(), "canary-7b1e")
    await visit.close()
  }, 120_000)

  it("hides a revealed value as soon as another tab learns that the session has ended", async () => {
    const ada = await Person.login("tabs@example.com")
    await ada.organization("tabs", { dev: { KEY: "canary-44d0" } })
    const visit = await Visit.open("/tabs/webshop", ada)
    const other = await visit.context.newPage()
    await other.goto(`${inject("server").url}/tabs`)
    await other.getByText("Projects of tabs").waitFor()
    await cellOf(visit, "KEY", "dev").click()
    // This tab cannot ask by itself.
    await visit.page.route("**/api/auth/me", (route) => route.abort())
    await visit.press("Reveal")
    await visit.sees("canary-44d0")
    await ada.call("DELETE", "/api/auth/sessions")
    await visit.page.waitForTimeout(3_500)
    assert.strictEqual(await visit.page.getByText("canary-44d0").count(), 1)
    await other.getByRole("link", { name: "Members" }).click()
    await other.getByText("Your session has ended").waitFor()
    await visit.page.getByText("canary-44d0").waitFor({ state: "detached", timeout: 1_000 })
    await visit.close()
  }, 120_000)

  it("shows no value that arrives after its panel was closed", async () => {
    const ada = await Person.login("late@example.com")
    await ada.organization("late", { dev: { KEY: "canary-90ab" } })
    const visit = await Visit.open("/late/webshop", ada)
    await cellOf(visit, "KEY", "dev").click()
    await visit.page.route("**/secrets/KEY", async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 500))
      await route.continue()
    })
    const answered = visit.page.waitForResponse("**/secrets/KEY")
    await visit.press("Reveal")
    await visit.page.keyboard.press("Escape")
    await answered
    await visit.page.waitForTimeout(200)
    await cellOf(visit, "KEY", "dev").click()
    await visit.page.getByRole("button", { name: "Reveal" }).waitFor()
    assert.notInclude(await visit.page.content(), "canary-90ab")
    await visit.close()
  }, 120_000)
})
