import { text } from "node:stream/consumers"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { Person } from "../support/Person.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`
const canary = "canary-2c91e07ab4d8"

describe.skipIf(!hasBrowser())(`what happened, and where one is logged in${why}`, () => {
  let eve: Person
  let visit: Visit

  /** The text of the file that a button saves. */
  const saved = async (name: string): Promise<string> => {
    const [download] = await Promise.all([visit.page.waitForEvent("download"), visit.press(name)])
    return text(await download.createReadStream())
  }

  beforeAll(async () => {
    eve = await Person.login("eve@example.com")
    await eve.organization("trail", {
      prod: Object.fromEntries(Array.from({ length: 120 }, (_, i) => [`K${i}`, canary]))
    })
    const account = await eve.call("POST", "/api/orgs/trail/service-accounts", { name: "deploy" })
    const rule = { subject_type: "service_account", subject_id: account.id, permission: "read" }
    await eve.call("POST", "/api/orgs/trail/acl", { ...rule, project_pattern: "webshop", env_pattern: "prod" })
    visit = await Visit.open("/trail/-/audit", eve)
  })
  afterAll(async () => {
    await visit.close()
  })

  it("audit: says it in sentences, with the entry behind, until a time, and saves what is filtered", async () => {
    await visit.page.getByLabel("Action", { exact: true }).selectOption("acl.grant")
    await visit.sees("granted deploy read on webshop/prod")
    const row = visit.page.getByRole("row").filter({ hasText: "granted deploy" })
    await row.locator("summary").focus()
    await visit.page.keyboard.press("Enter")
    await row.getByText('"project_pattern": "webshop"').waitFor()
    assert.match((await row.locator("time").getAttribute("title")) ?? "", /^20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC$/)
    await visit.isAccessible("audit sentences")

    await visit.fill("Until (UTC)", "yesterday")
    await visit.page.keyboard.press("Tab")
    await visit.sees(/^Until \(UTC\): ignored/)
    await visit.isAccessible("audit with a mistake")
    await visit.press("Clear")
    await visit.page.getByLabel("Action", { exact: true }).selectOption("secret.set")
    await visit.sees("120 entries")
    const lines = (await saved("Save as CSV")).split("\r\n")
    assert.lengthOf(lines, 122)
    assert.match(
      lines[1] ?? "",
      /^\d+,20\S+Z,eve@example\.com,user,secret\.set,.*set K\d+ \(version 1\) in webshop\/prod/
    )
    await visit.sees("120 entries saved.")
    const { data } = JSON.parse(await saved("Save as JSON"))
    assert.lengthOf(data, 120)
    assert.notInclude(JSON.stringify(data) + lines.join(), canary)

    await visit.fill("Until (UTC)", "2026-01-31")
    await visit.page.keyboard.press("Tab")
    await visit.sees("No entry fits these filters.")
    await visit.press("Clear")

    let release = () => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    await visit.page.route("**/audit-logs?**after=**", async (route) => {
      await held
      await route.continue()
    })
    await visit.press("Save as JSON")
    await visit.page.locator("progress[value='100']").waitFor()
    await visit.isAccessible("an export that runs")
    await visit.press("Cancel")
    release()
    await visit.page.getByRole("button", { name: "Save as JSON" }).waitFor()
    await visit.page.unrouteAll({ behavior: "ignoreErrors" })
  })
})
