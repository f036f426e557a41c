import { assert, describe, expect, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { cellOf, edit } from "../support/Cells.js"
import { type Json, Person } from "../support/Person.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`

const day = 24 * 3_600_000
const inDays = (days: number) => new Date(Date.now() + days * day + 60_000).toISOString()

describe.skipIf(!hasBrowser())(`previews${why}`, { timeout: 120_000 }, () => {
  it("are allowed, created, extended and removed in the settings, and fold into one column of the matrix", async () => {
    const ada = await Person.login("previews@example.com")
    await ada.organization("previewers", { staging: { API_KEY: "canary-1", HOST: "db" }, prod: { API_KEY: "2" } })
    const path = "/api/orgs/previewers/projects/webshop"
    await ada.call("POST", "/api/orgs/previewers/members", { email: "dev.previews@example.com", role: "developer" })
    const rule = { subject_type: "user", email: "dev.previews@example.com", project_pattern: "webshop" }
    for (const [env_pattern, permission] of [
      ["pr-{1,2}*", "write"],
      ["staging", "read"]
    ]) {
      await ada.call("POST", "/api/orgs/previewers/acl", { ...rule, env_pattern, permission })
    }
    const visit = await Visit.open("/previewers/webshop/-/settings", ada)
    const { page } = visit
    const { keyboard } = page
    await visit.sees("Previews are off: only admins create environments.")
    await page.getByLabel("Copies of").selectOption("staging")
    await visit.fill("At most, at once", "none")
    await visit.sees("At most, at once: must be a whole number from 1 to 50")
    await visit.fill("At most, at once", "5")
    await visit.press("Allow previews")
    await visit.sees("Set by previews@example.com")
    assert.deepInclude(await ada.call("GET", `${path}/previews`), { from: "staging", pattern: "pr-*", max: 5 })

    await visit.press("New environment")
    await visit.fill("Name of the environment", "pr-1")
    await page.getByLabel("Copy of").selectOption("staging")
    await page.getByLabel("Ends", { exact: true }).selectOption("in 1 hour")
    await visit.isAccessible("a new environment")
    await visit.press("Create")
    await page.getByRole("row", { name: /^pr-1 .*ends in (1 hour|60 minutes)/ }).waitFor()
    for (const name of ["pr-2", "pr-3"]) {
      await ada.call("POST", `${path}/envs`, { name, from: "staging", keys: ["HOST"], expires_at: inDays(2) })
    }

    // A person with write access to some of the names may do the things that admins allow.
    const dev = await Person.login("dev.previews@example.com")
    const own = await Visit.open("/previewers/webshop/-/settings", dev)
    await own.sees("To change that, one needs the role admin")
    const item = (name: string | RegExp) => own.page.getByRole("menuitem", { name, includeHidden: true })
    assert.isTrue(await item("Delete the environment pr-3").isDisabled())
    assert.strictEqual(await item(/^Extend/).count(), 2)
    await own.press("Extend… the environment pr-1")
    await own.sees("and is removed then with its secrets")
    await own.isAccessible("the end of an environment")
    await own.page.getByRole("button", { name: "Save" }).press("Enter")
    await own.page.getByRole("row", { name: /^pr-1 .*ends in 7 days/ }).waitFor()
    await own.press("New environment")
    await own.fill("Name of the environment", "other")
    await own.sees("As a preview, it is named pr-*.")
    await own.fill("Name of the environment", "pr-11")
    await own.page.getByLabel("Ends", { exact: true }).selectOption("in 1 day")
    await own.press("Create")
    await own.page.getByRole("row", { name: /^pr-11 .*ends (tomorrow|in 24 hours)/ }).waitFor()
    await own.isAccessible("previews of a developer")
    await own.press("Delete the environment pr-11")
    await own.fill(/Type/, "pr-11")
    await own.page.getByRole("dialog").getByRole("button", { name: "Delete" }).click()
    await expect.poll(() => own.page.getByRole("row", { name: /^pr-11 / }).count()).toBe(0)
    await own.close()

    // The keyboard alone opens the group, goes through it and folds it.
    await page.goto(new URL("/previewers/webshop", page.url()).href)
    await page.getByRole("columnheader", { name: "3 previews" }).waitFor()
    assert.strictEqual(await page.getByRole("columnheader", { name: /^pr-/ }).count(), 0)
    await visit.isAccessible("a folded group")
    await page.getByRole("grid").focus()
    const active = (): Promise<Json> =>
      page.evaluate(
        "document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))?.textContent"
      )
    await keyboard.press("Control+Home")
    await keyboard.press("Control+ArrowRight")
    assert.match(await active(), /^API_KEY in 3 previews: in 1 of 3, folded/)
    await keyboard.press("Enter")
    await page.getByRole("columnheader", { name: /^pr-1 ends in 7 days/ }).waitFor()
    await page.getByRole("columnheader", { name: /^pr-2 ends in 2 days/ }).waitFor()
    await visit.isAccessible("an open group")
    await keyboard.press("ArrowRight")
    assert.match(await active(), /^API_KEY in pr-1: version 1/)
    await edit(visit, "API_KEY", "pr-1", "another")
    await keyboard.press("ArrowLeft")
    await keyboard.press(" ")
    await expect.poll(active).toMatch(/^API_KEY in 3 previews: in 1 of 3, staged in 1, folded/)
    await visit.sees("1 staged")

    // Previews stay open for the project once they are opened; an address that marks a preview opens them.
    await page.getByRole("columnheader", { name: "3 previews" }).getByRole("button").click()
    await cellOf(visit, "HOST", "pr-3").waitFor()
    await page.getByRole("link", { name: "History" }).first().click()
    await page.getByRole("link", { name: "Matrix" }).first().click()
    await cellOf(visit, "HOST", "pr-3").waitFor()
    await visit.press("Discard")
    await page.goto(new URL("/previewers/webshop?env=pr-2", page.url()).href)
    await cellOf(visit, "HOST", "pr-2").waitFor()
    await page.getByRole("columnheader", { name: "3 previews" }).getByRole("button").click()
    await expect.poll(() => page.getByRole("columnheader", { name: /^pr-/ }).count()).toBe(0)
    assert.strictEqual(new URL(page.url()).search, "")

    await page.goto(new URL("/previewers/webshop/-/promote?from=pr-1&to=staging", page.url()).href)
    await visit.sees("staging has every secret of pr-1")
    assert.notInclude(await page.content(), "canary-1")
    await visit.close()
  })
})
