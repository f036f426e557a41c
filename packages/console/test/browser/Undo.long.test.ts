import { assert, describe, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { type Json, Person } from "../support/Person.js"
import { opened } from "../support/Undoing.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`

const api = "/api/orgs/undoes"

describe.skipIf(!hasBrowser())(`after a change${why}`, { timeout: 60_000 }, () => {
  it("says what was done, and takes it back by one press", async () => {
    const ada = await Person.login("undoes@example.com")
    await ada.organization("undoes", { dev: { API_KEY: "1" } })
    await ada.call("POST", `${api}/members`, { email: "undone@example.com", role: "developer" })
    await ada.call("POST", `${api}/groups`, { name: "backend" })
    const hook = { url: "https://127.0.0.1:9/undo", events: ["secret.*"] }
    await ada.call("POST", `${api}/webhooks`, hook)
    const listed = async (path: string): Promise<ReadonlyArray<Json>> => (await ada.call("GET", `${api}${path}`)).data
    const visit = await Visit.open("/undoes/-/rules?new", ada)
    const { page } = visit
    const undo = async () => {
      await page.getByRole("button", { name: "Undo", exact: true }).click()
      await visit.sees("It was taken back.")
    }

    await page.getByLabel("Who").selectOption("undone@example.com")
    await visit.fill("Projects", "webshop")
    await visit.fill("Environments", "dev")
    await page.getByRole("button", { name: "Grant read" }).click()
    await visit.sees("undone@example.com may read in webshop/dev.")
    // The dialog has the same sentence before it writes.
    await page.getByRole("button", { name: "Undo", exact: true }).waitFor()
    assert.strictEqual((await listed("/acl")).length, 1)
    await visit.isAccessible("what was done, with its undo")
    await undo()
    assert.strictEqual((await listed("/acl")).length, 0)

    const end = "2034-01-01T00:00:00.000Z"
    const rule = { subject_type: "user", email: "undone@example.com", project_pattern: "web*", env_pattern: "dev" }
    await ada.call("POST", `${api}/acl`, { ...rule, permission: "write", expires_at: end })
    await page.reload()
    await visit.press(/^Revoke/)
    await visit.confirm("Revoke")
    await visit.sees("The rule of undone@example.com in web*/dev was revoked.")
    assert.strictEqual((await listed("/acl")).length, 0)
    await undo()
    assert.deepInclude((await listed("/acl"))[0], { ...rule, permission: "write", expires_at: end })
    await page.getByRole("row", { name: /undone@example.com web\*\/dev write/ }).waitFor()

    await page.getByRole("link", { name: "Members" }).click()
    await page.getByRole("heading", { name: "Members", exact: false, level: 1 }).waitFor()
    assert.strictEqual(await page.getByText("It was taken back.").count(), 0, "another page does not say it")
    await visit.press(/^Role of undone/)
    await page.getByRole("combobox", { name: "Role" }).selectOption("admin")
    await page.getByRole("button", { name: "Make undone@example.com admin" }).click()
    await visit.sees("undone@example.com is admin now.")
    await undo()
    const [, member] = (await listed("/members")).toSorted((a, b) =>
      a.email === "undone@example.com" ? 1 : b ? -1 : 0
    )
    assert.deepInclude(member, { email: "undone@example.com", role: "developer" })

    await page.goto(`${new URL(page.url()).origin}/undoes/-/webhooks`)
    await visit.press(/^Disable/)
    await visit.confirm("Disable")
    await visit.sees("https://127.0.0.1:9/undo is disabled.")
    await undo()
    assert.isTrue((await listed("/webhooks"))[0].enabled)
    await visit.close()
  })

  it("restores what was just deleted", async () => {
    const ada = await Person.login("restores@example.com")
    await ada.organization("restores", { dev: { API_KEY: "1" } })
    const visit = await Visit.open("/restores/webshop/-/settings", ada)
    const { page } = visit
    await visit.press("Delete the environment staging")
    await page.locator("#confirm-name").fill("staging")
    await visit.confirm("Delete")
    await visit.sees("The environment staging was deleted.")
    await page.getByRole("button", { name: "Undo", exact: true }).click()
    await page
      .getByRole("row", { name: /staging/ })
      .first()
      .waitFor()
    await visit.sees("It was taken back.")

    await visit.press("Delete the project webshop")
    await page.locator("#confirm-name").fill("webshop")
    await visit.confirm("Delete")
    await visit.sees("The project webshop was deleted.")
    await page.getByRole("button", { name: "Undo", exact: true }).click()
    await page.waitForURL("**/restores/webshop")
    await page.getByText("API_KEY").first().waitFor()

    await page.goto(`${new URL(page.url()).origin}/restores/-/settings`)
    await visit.press("Delete the organization restores")
    await page.locator("#confirm-name").fill("restores")
    await visit.confirm("Delete")
    await visit.sees("The organization restores was deleted.")
    await page.getByRole("button", { name: "Undo", exact: true }).click()
    await page.getByRole("link", { name: "restores" }).waitFor()
    assert.strictEqual((await ada.call("GET", "/api/orgs/restores")).name, "restores")
    await visit.close()
  })

  it("takes back the end of a protection at once, and asks for votes where the undo needs them", async () => {
    const { ada, page, read, undo, visit } = await opened("undo-votes", "webshop/-/settings")
    await ada.call("POST", "/api/orgs/undo-votes/members", { email: "voter@example.com", role: "owner" })
    await (await Person.login("voter@example.com")).accept()
    const path = "/projects/webshop/envs/prod/protection"

    await visit.press(/^Protect of the environment prod/)
    await page.getByRole("textbox", { name: "Break glass" }).fill("undo-votes@example.com")
    await visit.confirm("Protect")
    await visit.sees(/^prod is protected: each change needs /)
    await visit.press(/^Protection of the environment prod/)
    await page.getByRole("dialog").getByLabel("Each vote needs a passkey").check()
    await visit.confirm("Save")
    await visit.sees("The protection of prod was changed.")
    assert.isTrue((await read(path)).passkey)
    await page.getByRole("button", { name: "Undo", exact: true }).click()
    await visit.press("Request change")
    await visit.sees(/Your request for webshop\/prod waits for approval/)
    assert.strictEqual(await page.getByRole("button", { name: "Undo", exact: true }).count(), 0)
    assert.isTrue((await read(path)).passkey)

    await visit.press(/^Protection of the environment prod/)
    await visit.press("End the protection")
    await visit.press("Break glass…")
    await visit.fill("Reason", "INC-12")
    await visit.press("Break the glass")
    await visit.sees("prod is not protected any more.")
    await undo()
    assert.deepInclude(await read(path), { passkey: true, break_glass: ["undo-votes@example.com"] })
    await visit.close()
  })
})
