import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { type Json, Person } from "../support/Person.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`

describe.skipIf(!hasBrowser())(`the form of a webhook${why}`, () => {
  let hana: Person
  let visit: Visit

  beforeAll(async () => {
    hana = await Person.login("hana@example.com")
    await hana.organization("hooks")
    visit = await Visit.open("/hooks/-/webhooks", hana)
  })
  afterAll(async () => {
    await visit.close()
  })

  it("takes each format at creation and in a change, and says which receivers check no signature", async () => {
    const dialog = visit.page.locator("dialog")
    const said = {
      slack: /A message for Slack, which checks no signature/,
      discord: /A message for Discord, which checks no signature/,
      teams: /A message for Teams \(Workflows\), which checks no signature/,
      ntfy: /A message for ntfy, which checks no signature/,
      coffer: /which checks the signature of each delivery/
    }
    const rowOf = (path: string) => visit.page.getByRole("rowheader").filter({ hasText: path })
    for (const [format, hint] of Object.entries(said)) {
      await visit.press("New webhook")
      await visit.fill("Address", `https://hooks.example.com/for-${format}`)
      await dialog.getByLabel("Format").selectOption(format)
      await dialog.getByText(hint).waitFor()
      if (format === "teams") await visit.isAccessible("a webhook to a chat")
      await dialog.getByRole("button", { name: "Create" }).click()
      await dialog.getByText(format === "coffer" ? "Give it to the receiver" : "needs no key").waitFor()
      await visit.leaveKey()
      await rowOf(`/for-${format}`).waitFor()
      assert.strictEqual(await rowOf(`/for-${format}`).locator(".badge").count(), format === "coffer" ? 0 : 1)
    }
    for (const [format, hint] of Object.entries(said)) {
      await visit.press("Edit https://hooks.example.com/for-slack")
      await dialog.getByLabel("Format").selectOption(format)
      await dialog.getByText(hint).waitFor()
      await dialog.getByRole("button", { name: "Save" }).click()
      const badge = rowOf("/for-slack").locator(".badge")
      await (format === "coffer" ? badge.waitFor({ state: "detached" }) : badge.filter({ hasText: format }).waitFor())
    }
    await visit.press("Edit https://hooks.example.com/for-ntfy")
    assert.strictEqual(await dialog.getByLabel("Format").inputValue(), "ntfy")
    await visit.page.keyboard.press("Escape")
    await visit.isAccessible("webhooks to chats")
    const { data } = await hana.call("GET", "/api/orgs/hooks/webhooks")
    assert.deepStrictEqual(
      data.map(({ format, url }: Json) => [url.split("/for-")[1], format]),
      Object.keys(said).map((format) => [format, format === "slack" ? "coffer" : format])
    )
  })
})
