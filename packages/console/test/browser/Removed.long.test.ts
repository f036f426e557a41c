import { assert, describe, expect, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { Person } from "../support/Person.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`

describe.skipIf(!hasBrowser())(`what was removed${why}`, { timeout: 120_000 }, () => {
  it("is listed with its end, restored, also under another name, and erased by its name", async () => {
    const ada = await Person.login("removed@example.com")
    await ada.organization("removers", { staging: { API_KEY: "canary-1" }, prod: { API_KEY: "2" } })
    const path = "/api/orgs/removers/projects/webshop"
    const visit = await Visit.open("/removers/webshop/-/settings", ada)
    const { page } = visit
    const removed = page.getByRole("table", { name: "Removed environments" })
    const rows = removed.getByRole("row", { name: /^staging / })
    assert.strictEqual(await page.getByRole("heading", { name: "Removed" }).count(), 0)
    await visit.press("Delete the environment staging")
    await visit.sees("For 30 days, it can be restored: under Removed on this page.")
    await visit.fill(/Type/, "staging")
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click()
    await removed.getByRole("row", { name: /^staging .*by removed@example.com.*in (30|29) days/ }).waitFor()
    await visit.isAccessible("removed environments")

    await ada.call("POST", `${path}/envs`, { name: "staging" })
    await visit.press("Restore… the environment staging")
    await page.getByRole("dialog").getByRole("button", { name: "Restore" }).click()
    await visit.sees("the environment name staging is in use")
    await visit.isAccessible("restoring an environment")
    await page.getByRole("dialog").getByLabel("Name").fill("staging-old")
    await page.getByRole("dialog").getByRole("button", { name: "Restore" }).click()
    await expect.poll(() => rows.count()).toBe(0)
    const { value } = await ada.call("GET", `${path}/envs/staging-old/secrets/API_KEY`)
    assert.strictEqual(value, "canary-1")

    await ada.call("DELETE", `${path}/envs/staging`)
    await page.reload()
    await visit.press("Erase… the environment staging")
    await visit.fill(/Type/, "staging")
    await page.getByRole("dialog").getByRole("button", { name: "Erase" }).click()
    await expect.poll(() => rows.count()).toBe(0)
    assert.deepStrictEqual((await ada.call("GET", `${path}/trash`)).data, [])

    await ada.call("DELETE", path)
    await page.goto(new URL("/removers/-/settings", page.url()).toString())
    await visit.press("Restore… the project webshop")
    await page.getByRole("dialog").getByRole("button", { name: "Restore" }).click()
    await expect.poll(() => page.getByRole("table", { name: "Removed projects" }).count()).toBe(0)
    await ada.call("GET", path)

    await ada.call("DELETE", "/api/orgs/removers")
    await page.goto(new URL("/", page.url()).toString())
    await visit.press("Restore… the organization removers")
    await page.getByRole("dialog").getByRole("button", { name: "Restore" }).click()
    await page.getByRole("link", { name: "removers" }).first().waitFor()
    await ada.call("GET", path)
    await visit.close()
  })
})
