import { assert, describe, expect, inject, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { edit } from "../support/Cells.js"
import { Person } from "../support/Person.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`

const org = "glass"
const api = `/api/orgs/${org}`
const envs = `${api}/projects/webshop/envs`
const key = `${envs}/prod/secrets/API_KEY`
const of = (name: string) => `${name}@glass.example.com`

const dialog = (visit: Visit) => visit.page.locator("dialog[open]").last()

const open = (visit: Visit, path: string) => visit.page.goto(inject("server").url + path)

/** Presses what changes a protected environment, and requests the change. */
const request = async (visit: Visit, press: () => Promise<void>, place = "webshop/prod is protected") => {
  await press()
  await dialog(visit).getByRole("heading", { name: place }).waitFor()
  await dialog(visit).getByRole("button", { name: "Request change" }).click()
  await expect.poll(() => visit.page.locator("dialog[open]").count()).toBe(0)
}

describe.skipIf(!hasBrowser())(`requested changes${why}`, () => {
  it("asks before every kind of change, by which nothing is changed, and lets those named break the glass", async () => {
    const ada = await Person.login(of("ada"))
    await ada.organization(org, { staging: { API_KEY: "2" }, prod: { API_KEY: "canary-old" } })
    await ada.call("PATCH", `${envs}/prod/bundle`, { set: { API_KEY: "canary-new" } })
    for (const [name, role] of [
      ["grace", "admin"],
      ["bob", "developer"]
    ] as const) {
      await ada.call("POST", `${api}/members`, { email: of(name), role })
    }
    const grace = await Person.login(of("grace"))
    await grace.accept()
    await ada.call("PUT", `${envs}/prod/protection`, {
      needed: 1,
      approvers: [of("ada"), of("grace")],
      break_glass: [of("ada")]
    })
    const visit = await Visit.open(`/${org}/webshop/API_KEY?env=prod`, ada)
    const { page } = visit
    await visit.press("Roll back to it")
    await dialog(visit).getByRole("button", { name: "Cancel" }).click()
    await visit.sees("Nothing was changed or requested: the environment is protected.")
    // The answer to one request leaves the dialog of the next change open.
    let release = () => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    await page.route("**/rollback", async (route) => {
      if (route.request().headers()["prefer"] !== undefined) await held
      await route.continue()
    })
    await request(visit, () => visit.press("Roll back to it"))
    await request(visit, async () => {
      await visit.press("Destroy")
      release()
      await visit.sees("Your request for webshop/prod waits")
      await visit.fill(/^Type/, "API_KEY")
      await dialog(visit).getByRole("button", { name: "Destroy" }).click()
    })
    await request(visit, async () => {
      await page.getByRole("heading", { name: "Due date" }).click()
      await visit.fill("Owner", of("ada"))
      await visit.press("Save the due date")
    })
    await request(visit, async () => {
      await visit.press("Allow a use")
      await visit.fill("Who", of("bob"))
      await visit.fill("Hosts", "api.invalid")
      await visit.fill("Paths", "/v1/refunds")
      await dialog(visit).getByRole("button", { name: "Allow" }).click()
    })
    await open(visit, `/${org}/webshop/-/promote?from=staging&to=prod&key=API_KEY`)
    await request(visit, async () => {
      await visit.press("Review 1 for prod")
      await visit.press("Request for prod")
    })
    await open(visit, `/${org}/webshop/-/history`)
    await request(visit, async () => {
      await visit.press("Revert to here (prod, revision 1)")
      await visit.press("Revert prod")
    })
    await open(visit, `/${org}/webshop/-/settings`)
    await request(visit, async () => {
      await visit.press("Delete the environment prod")
      await visit.fill(/^Type/, "prod")
      await dialog(visit).getByRole("button", { name: "Delete" }).click()
    })
    await visit.sees("Your request for webshop/prod waits")
    await request(visit, async () => {
      await visit.press("Protection of the environment prod")
      await visit.press("End the protection")
    })
    await visit.sees("2 requests wait for approval")
    await request(
      visit,
      async () => {
        await visit.press("Delete the project webshop")
        await visit.fill(/^Type/, "webshop")
        await dialog(visit).getByRole("button", { name: "Delete" }).click()
      },
      "webshop holds a protected environment"
    )
    const { data } = await ada.call("GET", `${api}/requests?state=pending`)
    assert.deepStrictEqual(data.map(({ call }: { readonly call: string }) => call).reverse(), [
      "secrets.rollback",
      "secrets.destroy",
      "dues.update",
      "useRules.create",
      "environments.copy",
      "environments.revert",
      "environments.delete",
      "protections.remove",
      "projects.delete"
    ])
    assert.deepInclude(await ada.call("GET", key), { value: "canary-new", version: 2 })
    await page.getByRole("link", { name: "See the requests" }).click()
    await visit.sees("to end the protection of")
    await visit.isAccessible("many requests")

    await open(visit, `/${org}/webshop`)
    await edit(visit, "API_KEY", "prod", "canary-glass")
    await visit.press("Review and write")
    await visit.press("Request for prod")
    await visit.press("Break glass")
    await visit.sees("All owners are mailed who did it and why")
    await visit.isAccessible("the glass")
    assert.isTrue(await page.getByRole("button", { name: "Break the glass" }).isDisabled())
    await visit.fill("Reason", "the shop is down")
    await visit.press("Break the glass")
    await visit.sees("Written to prod")
    assert.deepInclude(await ada.call("GET", key), { value: "canary-glass", version: 3 })
    await visit.close()

    const voter = await Visit.open(`/${org}/-/approvals`, grace)
    // The first request of the owner is for a version that has another one after it.
    const card = voter.page.locator(".approvals-one").filter({ hasText: "to roll 1 secret back in" }).last()
    await card.getByRole("button", { name: /^Approve/ }).click()
    await voter.sees(/is outdated, and nothing was changed: /)
    await voter.page.getByLabel("Show").selectOption("outdated")
    await voter.sees("Nothing was changed, because something else has changed since")
    await voter.isAccessible("an outdated request")
    await voter.close()
  })
})
