import { assert, describe, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { type Json, Person } from "../support/Person.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`

describe.skipIf(!hasBrowser())(`an owner without other voters${why}`, { timeout: 60_000 }, () => {
  const opened = async (org: string) => {
    const ada = await Person.login(`${org}@example.com`)
    await ada.organization(org, { prod: { API_KEY: "1" } })
    await ada.call("POST", `/api/orgs/${org}/members`, { email: "not-yet@example.com", role: "owner" })
    const visit = await Visit.open(`/${org}/webshop/-/settings`, ada)
    await visit.press(/^Protect of the environment prod/)
    await visit.page.getByLabel("By", { exact: true }).selectOption("owners")
    await visit.confirm("Protect")
    await visit.sees("Nobody else could vote, so nobody could end this protection again.")
    const protection = (): Promise<Json> => ada.call("GET", `/api/orgs/${org}/projects/webshop/envs/prod/protection`)
    return { protection, visit, page: visit.page }
  }

  it("is told which controls let the protection be made, without words of other programs", async () => {
    const { page, protection, visit } = await opened("alone-votes")
    const alert = page.locator("dialog[open]").getByRole("alert")
    const text = await alert.innerText()
    assert.notMatch(text, /--|self|break_glass/)
    assert.include(text, "Not counted until they have accepted the invitation: not-yet@example.com.")
    assert.strictEqual(
      await alert.getByRole("link", { name: "Invite somebody" }).getAttribute("href"),
      "/alone-votes/-/members"
    )
    await visit.isAccessible("ways out of a protection that nobody could end")
    await visit.press("Count my own vote")
    assert.isTrue(await page.getByLabel("The requester's own vote counts").isChecked())
    assert.isTrue(await alert.isHidden())
    // The button that writes has the focus: nothing is written before it is pressed.
    await page.keyboard.press("Enter")
    await visit.sees(/^prod is protected/)
    assert.deepInclude(await protection(), { self: true, break_glass: [] })
    await visit.close()
  })

  it("may break the glass by one more press", async () => {
    const { protection, visit } = await opened("alone-glass")
    await visit.press("Let me break the glass")
    await visit.confirm("Protect")
    await visit.sees(/^prod is protected/)
    assert.deepInclude(await protection(), { self: false, break_glass: ["alone-glass@example.com"] })
    await visit.close()
  })
})
