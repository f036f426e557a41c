import { assert, describe, expect, inject, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { tabTo } from "../support/Keyboard.js"
import { Person } from "../support/Person.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`

describe.skipIf(!hasBrowser())(`the page of a secret${why}`, { timeout: 120_000 }, () => {
  it("shows the secret: reveals, compares, edits and undoes by the keyboard alone", async () => {
    const ada = await Person.login("page@example.com")
    await ada.organization("secret-page", { dev: { API_KEY: "canary-a1" }, prod: { API_KEY: "canary-prod" } })
    const path = "/api/orgs/secret-page/projects/webshop/envs/dev/secrets/API_KEY"
    for (const value of ["canary-b2-and-longer", "canary-b3-and-longer", "canary-b3-and-longer"]) {
      await ada.call("PUT", path, { value })
    }
    const visit = await Visit.open("/secret-page/webshop/API_KEY?env=dev", ada)
    const { page } = visit
    const { keyboard } = page
    const row = (version: number) => page.getByRole("row", { name: new RegExp(`^v${String(version)} `) })
    await row(4).getByText("same value as v3").waitFor()
    await row(3).getByText("differs from v2").waitFor()
    await row(2).getByText("at most 32 bytes").waitFor()
    assert.strictEqual(await page.getByLabel("Expires").isVisible(), false)
    assert.strictEqual(await row(1).getByRole("button", { name: "Compare" }).count(), 0)
    await visit.isAccessible("a secret with versions")
    assert.notInclude(await page.content(), "canary-")

    await tabTo(visit, "Reveal")
    await keyboard.press("Enter")
    await page.locator(".secret-value output").getByText("canary-b3-and-longer").waitFor()
    await tabTo(visit, "Compare version 3 with 2")
    await keyboard.press("Enter")
    await page.locator(".secret-difference ins").getByText("3", { exact: true }).waitFor()
    await page.locator(".secret-difference del").getByText("2", { exact: true }).waitFor()
    await visit.isAccessible("two versions by value")
    await keyboard.press("Enter")
    await tabTo(visit, "Reveal version 1")
    await keyboard.press("Enter")
    await page.locator(".secret-versions output").getByText("canary-a1").waitFor()
    await keyboard.press("Enter")
    await page.locator(".secret-versions output").waitFor({ state: "detached" })
    assert.notInclude(await page.content(), "canary-")

    await page.reload()
    await row(4).waitFor()
    await tabTo(visit, "Edit")
    await keyboard.press("Enter")
    await keyboard.type("written-here")
    await visit.isAccessible("the editor of a secret's page")
    await keyboard.press("Enter")
    await visit.sees("A new value is staged.")
    assert.strictEqual(await page.evaluate("document.activeElement.textContent"), "Edit")
    await tabTo(visit, "Review and write")
    await keyboard.press("Enter")
    await page.locator("dialog .changes").getByText("change", { exact: true }).waitFor()
    await tabTo(visit, "Write to dev")
    await keyboard.press("Enter")
    await expect.poll(() => page.evaluate("document.activeElement.id")).toBe("page")
    await row(5).getByText("differs from v4").waitFor()
    assert.deepInclude(await ada.call("GET", path), { value: "written-here", version: 5 })
    await visit.isAccessible("a secret that was written")
    await tabTo(visit, "Undo")
    await keyboard.press("Enter")
    await row(6).waitFor()
    assert.deepInclude(await ada.call("GET", path), { value: "canary-b3-and-longer" })

    // Another environment has values of its own.
    await page.getByRole("link", { name: "prod v1" }).click()
    await row(1).waitFor()
    assert.strictEqual(await page.getByRole("row", { name: /^v/ }).count(), 1)
    await visit.close()
  })

  it("says of a key that never was so, and what was meant, and offers what was deleted elsewhere", async () => {
    const ada = await Person.login("never@example.com")
    await ada.organization("secret-never", { dev: { STRIPE_KEY: "1" }, prod: { OLD_TOKEN: "2" } })
    await ada.call("DELETE", "/api/orgs/secret-never/projects/webshop/envs/prod/secrets/OLD_TOKEN")
    const at = (key: string) => `${inject("server").url}/secret-never/webshop/${key}?env=dev`
    const visit = await Visit.open("/secret-never/webshop/STRIPE_KYE?env=dev", ada)
    await visit.sees("nor in any other environment that you may read")
    await visit.isAccessible("a key that never was")
    await visit.page.getByRole("link", { name: "STRIPE_KEY" }).click()
    await visit.page.getByRole("row", { name: /^v1 / }).waitFor()
    await visit.page.goto(at("OLD_TOKEN"))
    await visit.sees("It can be restored where it was deleted")
    await visit.isAccessible("a key that was deleted elsewhere")
    await visit.page.getByRole("link", { name: "prod", exact: true }).click()
    await visit.press("Undelete")
    await visit.page.getByRole("row", { name: /^v1 / }).waitFor()
    await visit.page.goto(at("BRAND_NEW"))
    await visit.press("Create")
    await visit.page.locator("#matrix-editor").fill("first")
    await visit.page.keyboard.press("Enter")
    await visit.press("Review and write")
    await visit.press("Write to dev")
    await visit.page.getByRole("row", { name: /^v1 / }).waitFor()
    await visit.close()
  })
})
