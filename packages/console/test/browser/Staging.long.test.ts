import { assert, describe, expect, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { cellOf, edit, writeAll } from "../support/Cells.js"
import { type Json, Person } from "../support/Person.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`

/** As when the tab is shown again. */
const readAgain = (visit: Visit) => visit.page.evaluate(`document.dispatchEvent(new Event("visibilitychange"))`)

describe.skipIf(!hasBrowser())(`what is staged and written${why}`, () => {
  it("tells who was faster, and keeps what is staged", async () => {
    const ada = await Person.login("faster@example.com")
    await ada.organization("conflicts", { dev: { SHARED: "before" } })
    const [first, second] = [await Visit.open("/conflicts/webshop", ada), await Visit.open("/conflicts/webshop", ada)]
    await edit(second, "SHARED", "dev", "of the second")
    await edit(first, "SHARED", "dev", "of the first")
    await writeAll(first, "dev")
    await second.press("Review and write")
    await second.sees("has changed since you began")
    await second.sees("(yours too)")
    await second.press("Keep mine in dev")
    await second.press("Write to dev")
    await second.sees("Written to")
    const path = "/api/orgs/conflicts/projects/webshop/envs/dev/secrets/SHARED"
    assert.deepInclude(await ada.call("GET", path), { value: "of the second", version: 3 })
    await second.press("Undo")
    await second.page.getByText("Written to").waitFor({ state: "detached" })
    assert.deepInclude(await ada.call("GET", path), { value: "of the first", version: 4 })
    await first.close()
    await second.close()
  }, 120_000)

  it("addresses cells by names: what others add or remove meanwhile moves no value to another secret", async () => {
    const ada = await Person.login("moves@example.com")
    await ada.organization("moves", { dev: { B_KEY: "b", C_KEY: "c" } })
    const secrets = "/api/orgs/moves/projects/webshop/envs/dev/secrets"
    const visit = await Visit.open("/moves/webshop", ada)
    await cellOf(visit, "C_KEY", "dev").click()
    await visit.page.locator(".matrix-panel").getByRole("button", { name: "Edit" }).click()
    await visit.page.locator("#matrix-editor").fill("for c")
    await ada.call("PUT", `${secrets}/A_KEY`, { value: "a" })
    await ada.call("POST", "/api/orgs/moves/projects/webshop/envs", { name: "canary" })
    await readAgain(visit)
    await cellOf(visit, "A_KEY", "dev").waitFor()
    await visit.page.getByRole("columnheader", { name: /^canary/ }).waitFor()
    assert.strictEqual(await visit.page.locator("#matrix-editor").inputValue(), "for c")
    await visit.page.keyboard.press("Enter")
    await visit.page.getByRole("gridcell", { name: /^C_KEY in dev: .*new value staged/ }).waitFor()
    await writeAll(visit, "dev")
    assert.deepInclude(await ada.call("GET", `${secrets}/C_KEY`), { value: "for c" })
    assert.deepInclude(await ada.call("GET", `${secrets}/B_KEY`), { value: "b", version: 1 })

    // The keyboard stays on its key, and Delete marks that one.
    await cellOf(visit, "B_KEY", "dev").click()
    await visit.page.locator(".matrix-panel:focus").waitFor()
    await visit.page.keyboard.press("Escape")
    await visit.page.locator(".matrix-panel").waitFor({ state: "detached" })
    await ada.call("DELETE", `${secrets}/A_KEY`)
    await readAgain(visit)
    await cellOf(visit, "A_KEY", "dev").waitFor({ state: "detached" })
    await visit.page.keyboard.press("Delete")
    await visit.press("Review and write")
    await visit.fill(/will be removed/, "dev")
    await visit.press("Write to dev")
    await visit.sees("Written to")
    assert.deepInclude(await ada.call("GET", `${secrets}/C_KEY`), { value: "for c" })
    const { data } = await ada.call("GET", secrets)
    assert.deepStrictEqual(
      data.map(({ key }: Json) => key),
      ["C_KEY"]
    )
    await visit.close()
  }, 120_000)

  it("stores no empty text by a slip, and keeps line ends", async () => {
    const ada = await Person.login("slips@example.com")
    await ada.organization("slips", { dev: { FULL: "one\r\ntwo" } })
    const path = "/api/orgs/slips/projects/webshop/envs/dev/secrets/FULL"
    const visit = await Visit.open("/slips/webshop", ada)
    await cellOf(visit, "FULL", "dev").click()
    await visit.page.locator(".matrix-panel:focus").waitFor()
    await visit.page.keyboard.press("Escape")
    await visit.page.locator(".matrix-panel").waitFor({ state: "detached" })
    await visit.page.keyboard.press("Enter")
    await visit.page.locator("#matrix-editor").waitFor()
    await visit.page.keyboard.press("Enter")
    await visit.sees("Type the new value first")
    await visit.press("Stage")
    await visit.sees("Type the new value first")
    await visit.press("Begin with the current value")
    await expect.poll(() => visit.page.locator("#matrix-editor").inputValue()).toBe("one\ntwo")
    await visit.page.locator("#matrix-editor").press("End")
    await visit.page.keyboard.type("!")
    await visit.press("Stage")
    await writeAll(visit, "dev")
    assert.match((await ada.call("GET", path)).value, /^one!?\r\ntwo!?$/)
    await cellOf(visit, "FULL", "dev").click()
    await visit.page.locator(".matrix-panel").getByRole("button", { name: "Edit" }).click()
    await visit.page.getByLabel("Store the empty text").check()
    await visit.press("Stage")
    await visit.press("Review and write")
    await visit.page.locator("dialog .changes").getByText("empty text").waitFor()
    await visit.press("Write to dev")
    await visit.sees("Written to")
    assert.deepInclude(await ada.call("GET", path), { value: "" })
    await visit.close()
  }, 120_000)

  it("writes several environments one by one: what was written is not staged, and can be undone", async () => {
    const ada = await Person.login("several@example.com")
    await ada.organization("several", { dev: { KEY: "1" }, prod: { KEY: "1" } })
    const pathOf = (env: string) => `/api/orgs/several/projects/webshop/envs/${env}/secrets/KEY`
    const visit = await Visit.open("/several/webshop", ada)
    await edit(visit, "KEY", "dev", "mine")
    await edit(visit, "KEY", "prod", "mine")
    await visit.press("Review and write")
    await visit.page.getByRole("button", { name: /^Write to dev, prod/ }).waitFor()
    await ada.call("PUT", pathOf("prod"), { value: "of a colleague" })
    await visit.press(/^Write to dev, prod/)
    await visit.sees("has changed since you began")
    assert.deepInclude(await ada.call("GET", pathOf("dev")), { value: "mine" })
    assert.deepInclude(await ada.call("GET", pathOf("prod")), { value: "of a colleague" })
    await visit.press("Drop mine in prod")
    await visit.press("Back")
    await visit.sees("Written to dev")
    await visit.press("Undo")
    await visit.page.getByText("Written to").waitFor({ state: "detached" })
    assert.deepInclude(await ada.call("GET", pathOf("dev")), { value: "1" })
    await visit.close()
  }, 120_000)

  it("keeps the keyboard on its key from the first row on, and acts on no other when that key is gone", async () => {
    const ada = await Person.login("cursors@example.com")
    await ada.organization("cursors", { dev: { B_KEY: "b", C_KEY: "c" } })
    const secrets = "/api/orgs/cursors/projects/webshop/envs/dev/secrets"
    const visit = await Visit.open("/cursors/webshop", ada)
    const staged = () => visit.page.getByRole("gridcell", { name: /staged/ })
    await cellOf(visit, "B_KEY", "dev").waitFor()
    await visit.page.getByRole("grid").focus()
    await ada.call("PUT", `${secrets}/A_KEY`, { value: "a" })
    await readAgain(visit)
    await cellOf(visit, "A_KEY", "dev").waitFor()
    await visit.page.keyboard.press("Delete")
    await visit.page.getByRole("gridcell", { name: /^B_KEY in dev: .*staged for removal/ }).waitFor()
    await visit.page.keyboard.press("Delete")
    await expect.poll(() => staged().count()).toBe(0)
    await ada.call("DELETE", `${secrets}/B_KEY`)
    await readAgain(visit)
    await cellOf(visit, "B_KEY", "dev").waitFor({ state: "detached" })
    await visit.page.keyboard.press("Delete")
    await visit.page.keyboard.press("Enter")
    await visit.page.waitForTimeout(200)
    assert.deepStrictEqual([await staged().count(), await visit.page.locator(".matrix-panel").count()], [0, 0])
    assert.strictEqual(new URL(visit.page.url()).pathname, "/cursors/webshop")
    await visit.page.keyboard.press("ArrowUp")
    await visit.page.keyboard.press("Delete")
    await visit.page.getByRole("gridcell", { name: /^A_KEY in dev: .*staged for removal/ }).waitFor()

    // The filter leaves another row where the keyboard was.
    await visit.page.keyboard.press("Control+z")
    await visit.fill("Filter keys", "C_KEY")
    await cellOf(visit, "A_KEY", "dev").waitFor({ state: "detached" })
    await visit.page.keyboard.press("Enter")
    await visit.page.keyboard.press("Delete")
    await visit.page.getByRole("gridcell", { name: /^C_KEY in dev: .*staged for removal/ }).waitFor()
    await visit.close()
  }, 120_000)

  it("keeps the panel and what is typed at their key while the filter shows other rows", async () => {
    const ada = await Person.login("panels@example.com")
    await ada.organization("panels", { dev: { ALPHA: "a", BETA: "b" } })
    const visit = await Visit.open("/panels/webshop", ada)
    await cellOf(visit, "ALPHA", "dev").click()
    await visit.page.locator(".matrix-panel").getByRole("button", { name: "Edit" }).click()
    await visit.page.locator("#matrix-editor").fill("for alpha")
    await visit.fill("Filter keys", "beta")
    await cellOf(visit, "ALPHA", "dev").waitFor({ state: "detached" })
    await visit.page.getByRole("dialog", { name: "ALPHA in dev" }).waitFor()
    await visit.page.locator("#matrix-editor").press("Enter")
    await visit.fill("Filter keys", "")
    await visit.page.getByRole("gridcell", { name: /^ALPHA in dev: .*new value staged/ }).waitFor()
    assert.strictEqual(await visit.page.getByRole("gridcell", { name: /staged/ }).count(), 1)
    await visit.close()
  }, 120_000)

  it("overwrites no version that came while the editor was open", async () => {
    const ada = await Person.login("unseen@example.com")
    await ada.organization("unseen", { dev: { KEY: "1", OTHER: "1" } })
    const secrets = "/api/orgs/unseen/projects/webshop/envs/dev/secrets"
    const visit = await Visit.open("/unseen/webshop", ada)
    await cellOf(visit, "KEY", "dev").click()
    await visit.page.locator(".matrix-panel").getByRole("button", { name: "Edit" }).click()
    await visit.page.locator("#matrix-editor").fill("mine")
    await ada.call("PUT", `${secrets}/KEY`, { value: "of a colleague" })
    await readAgain(visit)
    await visit.page.getByRole("gridcell", { name: /^KEY in dev: version 2/ }).waitFor()
    await visit.page.locator("#matrix-editor").press("Enter")
    await visit.press("Review and write")
    await visit.sees("(yours too)")
    await visit.press("Drop mine in dev")
    await visit.press("Back")
    assert.deepInclude(await ada.call("GET", `${secrets}/KEY`), { value: "of a colleague", version: 2 })
    await visit.close()
  }, 120_000)

  it("names equal and much shorter values in the review", async () => {
    const ada = await Person.login("remarks@example.com")
    await ada.organization("remarks", {
      dev: { LONG: "x".repeat(64), SAME_AS_IN_THE_FIRST_SHARD: "as before", SHORT: "1" }
    })
    const visit = await Visit.open("/remarks/webshop", ada)
    await edit(visit, "SAME_AS_IN_THE_FIRST_SHARD", "dev", "as before")
    await edit(visit, "SHORT", "dev", "three")
    await cellOf(visit, "LONG", "dev").click()
    await visit.page.locator(".matrix-panel").getByRole("button", { name: "Edit" }).click()
    await visit.press("Begin with the current value")
    await expect.poll(() => visit.page.locator("#matrix-editor").inputValue()).toBe("x".repeat(64))
    await visit.page.locator("#matrix-editor").fill("x")
    await visit.press("Stage")
    await visit.press("Review and write")
    const row = (key: string) => visit.page.locator("dialog tr").filter({ hasText: key })
    await row("LONG").getByText("much shorter: 1 instead of 64 characters").waitFor()
    await row("SAME_AS_IN_THE_FIRST_SHARD").getByText("equal to what is stored").waitFor()
    await row("SHORT").getByText("5 characters").waitFor()
    await visit.isAccessible("review with remarks")
    await visit.page.setViewportSize({ width: 390, height: 844 })
    const over: Json = await visit.page.evaluate(
      `[...document.querySelectorAll("dialog, .dialog, .changes")].map((one) => one.scrollWidth - one.parentElement.clientWidth)`
    )
    for (const width of over) assert.isAtMost(width, 0)
    await visit.close()
  }, 120_000)

  it("settles each environment: a refusal of one keeps no other, and a lost response is no conflict with oneself", async () => {
    const ada = await Person.login("settles@example.com")
    await ada.organization("settles", { dev: { KEY: "1" }, staging: { KEY: "1" }, prod: { KEY: "1" } })
    const pathOf = (env: string) => `/api/orgs/settles/projects/webshop/envs/${env}/secrets/KEY`
    const visit = await Visit.open("/settles/webshop", ada)
    for (const env of ["prod", "dev", "staging"]) await edit(visit, "KEY", env, "mine")
    await visit.sees("dev 1 · staging 1 · prod 1")
    // Staging is written, but its response is lost.
    let lose = () => {}
    const lost = new Promise<void>((resolve) => (lose = resolve))
    await visit.page.route("**/envs/staging/bundle", async (route) => {
      if (route.request().postDataJSON().dry_run !== true) {
        await route.fetch()
        await route.abort()
        lose()
      } else await route.continue()
    })
    await visit.page.route("**/envs/prod/bundle", (route) =>
      route.request().postDataJSON().dry_run === true
        ? route.continue()
        : route.fulfill({ status: 403, json: { error: { code: "FORBIDDEN", message: "no rule lets you write here" } } })
    )
    await visit.press("Review and write")
    await visit.press(/^Write to dev, staging, prod/)
    await visit.sees("No rule lets you write here")
    await lost
    assert.deepInclude(await ada.call("GET", pathOf("dev")), { value: "mine" })
    await visit.page.unroute("**/envs/staging/bundle")
    await visit.page.unroute("**/envs/prod/bundle")
    await visit.press(/^Write to staging, prod/)
    await visit.page.locator("dialog[open]").waitFor({ state: "detached" })
    await visit.sees("Written to dev, prod")
    for (const env of ["dev", "staging", "prod"]) {
      assert.deepInclude(await ada.call("GET", pathOf(env)), { value: "mine", version: 2 })
    }

    // Undo settles one by one as well.
    await ada.call("PUT", pathOf("dev"), { value: "of a colleague" })
    await visit.press("Undo")
    await visit.sees("was not changed back")
    await visit.sees("Written to dev.")
    assert.deepInclude(await ada.call("GET", pathOf("dev")), { value: "of a colleague" })
    assert.deepInclude(await ada.call("GET", pathOf("prod")), { value: "1" })
    await visit.close()
  }, 120_000)

  it("asks again in the review once the connection is back, and says until then that nothing was asked", async () => {
    const ada = await Person.login("cuts@example.com")
    await ada.organization("cuts", { dev: { KEY: "1" } })
    const visit = await Visit.open("/cuts/webshop", ada)
    await edit(visit, "KEY", "dev", "mine")
    await visit.context.setOffline(true)
    await visit.press("Review and write")
    await visit.sees("was not asked about yet")
    const write = visit.page.locator("dialog[open]").getByRole("button", { name: /^(Write|Nothing to write)/ })
    assert.deepStrictEqual([await write.innerText(), await write.isDisabled()], ["Write", true])
    await visit.context.setOffline(false)
    await visit.press(/^Write to dev/)
    await visit.sees("Written to dev")
    assert.deepInclude(await ada.call("GET", "/api/orgs/cuts/projects/webshop/envs/dev/secrets/KEY"), { value: "mine" })
    await visit.close()
  }, 120_000)
})
