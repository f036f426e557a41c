import { assert, describe, expect, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { Person } from "../support/Person.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`

describe.skipIf(!hasBrowser())(`lists${why}`, { timeout: 120_000 }, () => {
  it("have a dialog that creates and a drawer of a row in the address, and Back closes each", async () => {
    const ada = await Person.login("lists@example.com")
    await ada.organization("listing", { dev: { KEY: "1" } })
    const { id } = await ada.call("POST", "/api/orgs/listing/service-accounts", { name: "deploy", project: "webshop" })
    const pages = [
      { page: "groups", create: "New group", title: "New group" },
      { page: "rules", create: "New rule", title: "New rule" },
      { page: "accounts", create: "New service account", title: "New service account" },
      { page: "webhooks", create: "New webhook", title: "New webhook" },
      { page: "", create: "New project", title: "New project" }
    ]
    const visit = await Visit.open("/listing", ada)
    const dialog = visit.page.locator("dialog[open]")
    const { origin } = new URL(visit.page.url())
    for (const { create, page, title } of pages) {
      const address = page === "" ? "/listing" : `/listing/-/${page}`
      await visit.page.goto(origin + address)
      await visit.press(create)
      await dialog.getByRole("heading", { name: title }).waitFor()
      assert.strictEqual(new URL(visit.page.url()).search, "?new=1", page)
      await visit.page.reload()
      await dialog.getByRole("heading", { name: title }).waitFor()
      await visit.isAccessible(title)
      await visit.page.goBack()
      await dialog.waitFor({ state: "detached" })
      assert.strictEqual(visit.page.url(), origin + address)
    }
    await visit.page.goto(`${origin}/listing/-/accounts`)
    const link = visit.page.getByRole("link", { name: "deploy" })
    await link.focus()
    await visit.page.keyboard.press("Enter")
    await dialog.getByText(id).waitFor()
    await dialog.getByText("No role and no rule gives access here.").waitFor()
    await visit.isAccessible("a service account")
    await visit.page.keyboard.press("Escape")
    await dialog.waitFor({ state: "detached" })
    assert.strictEqual(new URL(visit.page.url()).search, "")
    assert.isTrue(await link.evaluate((element) => element === document.activeElement))
    // The menu of the row by the keyboard, too.
    await visit.page.keyboard.press("Shift+F10")
    await visit.page.getByRole("menuitem", { name: "Explain the access of deploy" }).waitFor()
    await visit.page.keyboard.press("End")
    await visit.page.keyboard.press("Enter")
    await dialog.getByText("What runs with the key gets no secret any more").waitFor()
    await visit.close()
  })

  it("are filtered by words from eight rows on, and the address keeps them", async () => {
    const ada = await Person.login("filters-lists@example.com")
    await ada.organization("filtering", { dev: { KEY: "1" } })
    const api = "/api/orgs/filtering"
    for (let number = 1; number <= 7; number++) {
      await ada.call("POST", `${api}/acl`, {
        ...{ subject_type: "user", email: "filters-lists@example.com", permission: "read" },
        ...{ project_pattern: `web-${number}`, env_pattern: "dev" }
      })
    }
    const visit = await Visit.open("/filtering/-/rules", ada)
    const rows = visit.page.locator("tbody tr")
    await expect.poll(() => rows.count()).toBe(7)
    assert.strictEqual(await visit.page.getByLabel("Filter access rules").count(), 0)
    await ada.call("POST", `${api}/acl`, {
      ...{ subject_type: "user", email: "filters-lists@example.com", permission: "write" },
      ...{ project_pattern: "billing", env_pattern: "prod" }
    })
    await visit.page.reload()
    await visit.fill("Filter access rules", "prod bill")
    await expect.poll(() => rows.count()).toBe(1)
    await visit.sees("1 of 8")
    assert.strictEqual(new URL(visit.page.url()).searchParams.get("q"), "prod bill")
    await visit.page.reload()
    await visit.sees("1 of 8")
    await visit.isAccessible("a list that is filtered")
    await visit.fill("Filter access rules", "nowhere")
    await visit.press("Show all")
    await expect.poll(() => rows.count()).toBe(8)
    await visit.close()
  })

  it("open the rule for a person by its address, and say who gets what before it is granted", async () => {
    const ada = await Person.login("who@example.com")
    await ada.organization("granting", { dev: { KEY: "1" } })
    await ada.call("POST", "/api/orgs/granting/members", { email: "hal.who@example.com", role: "developer" })
    const visit = await Visit.open("/granting/-/rules?who=hal.who%40example.com", ada)
    const dialog = visit.page.locator("dialog[open]")
    await expect.poll(() => dialog.getByLabel("Who").inputValue()).toBe("hal.who@example.com")
    await visit.fill("Projects", "web*")
    await visit.fill("Environments", "dev")
    await visit.sees("hal.who@example.com may read in web*/dev.")
    await visit.press("Grant read")
    await dialog.waitFor({ state: "detached" })
    assert.strictEqual(new URL(visit.page.url()).search, "")
    await visit.page.getByRole("row", { name: /^hal\.who@example\.com web\*\/dev read never/ }).waitFor()
    await visit.close()
  })

  it("show the exact time beside the other where there is room, and over it for those who point at it", async () => {
    const ada = await Person.login("times@example.com")
    await ada.organization("timing", { dev: { KEY: "1" } })
    await ada.call("POST", "/api/orgs/timing/groups", { name: "backend" })
    const visit = await Visit.open("/timing/-/groups", ada)
    const time = visit.page.getByRole("row", { name: /^backend/ }).locator("time")
    await time.waitFor()
    const shown = () => time.evaluate((element) => getComputedStyle(element, "::after").content)
    const exact = /^"20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC"$/
    assert.strictEqual(await shown(), "none")
    await time.hover()
    assert.match(await shown(), exact)
    await visit.page.mouse.move(0, 0)
    await visit.page.setViewportSize({ width: 1920, height: 900 })
    assert.match(await shown(), exact)
    const isCut = await visit.page.locator(".scroll").evaluate((one) => one.scrollWidth > one.clientWidth)
    assert.isFalse(isCut)
    await visit.close()
  })
})
