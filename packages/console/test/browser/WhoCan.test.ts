import { text } from "node:stream/consumers"
import { assert, describe, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { type Json, Person } from "../support/Person.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`

describe.skipIf(!hasBrowser())(`who can${why}`, { timeout: 120_000 }, () => {
  it("shows people down and environments across, why, saves both forms, and records a review", async () => {
    const ada = await Person.login("who-can@example.com")
    await ada.organization("who-can", { dev: { KEY: "1" }, prod: { KEY: "2" } })
    const api = "/api/orgs/who-can"
    await ada.call("POST", `${api}/members`, { email: "grace-who@example.com", role: "developer" })
    const rule = { project_pattern: "webshop", permission: "read" }
    await ada.call("POST", `${api}/groups`, { name: "backend" })
    await ada.call("POST", `${api}/groups/backend/members`, { email: "grace-who@example.com" })
    await ada.call("POST", `${api}/acl`, { ...rule, subject_type: "group", group: "backend", env_pattern: "dev" })
    await ada.call("POST", `${api}/acl`, {
      ...{ ...rule, subject_type: "user", email: "grace-who@example.com", env_pattern: "staging", key_pattern: "DB_*" }
    })
    const { id } = await ada.call("POST", `${api}/service-accounts`, { name: "deploy" })
    await ada.call("POST", `${api}/acl`, {
      ...{ ...rule, subject_type: "service_account", subject_id: id, env_pattern: "prod", permission: "write" },
      expires_at: "2035-01-01T00:00:00Z"
    })
    const visit = await Visit.open("/who-can/webshop/-/who", ada)
    const { page } = visit
    const row = (name: string) => page.getByRole("row", { name })
    const cells = async (name: string) =>
      (await row(name).first().getByRole("cell").allInnerTexts()).map((text) => text.split("\n")[0]?.split(" ")[0])
    await row("deploy").waitFor()
    assert.deepStrictEqual(await page.getByRole("columnheader").allInnerTexts(), ["Who", "dev", "staging", "prod"])
    assert.deepStrictEqual(await cells("grace-who@example.com"), ["read", "read", "–"])
    await row("grace-who@example.com")
      .getByRole("button", { name: "read of some keys in webshop/staging: why" })
      .waitFor()
    assert.isTrue(await page.getByText("At least", { exact: true }).isVisible())
    assert.deepStrictEqual((await cells("deploy")).slice(0, 2), ["–", "–"])
    await visit.isAccessible("who can")
    await row("grace-who@example.com").getByRole("button", { name: "read in webshop/dev: why" }).click()
    const dialog = page.locator("dialog[open]")
    await dialog.getByText("of the group backend").waitFor()
    await dialog.getByText("The audit log has no use of it here.").waitFor()
    await visit.isAccessible("why somebody can")
    await page.keyboard.press("Escape")
    const saved = async (button: string) => {
      const [download] = await Promise.all([page.waitForEvent("download"), visit.press(button)])
      return text(await download.createReadStream())
    }
    const csv = await saved("Save as CSV")
    assert.match(csv, /^project,environment,kind,who,permission,by,/)
    assert.include(csv, "webshop,dev,user,grace-who@example.com,read,rule,,backend,webshop/dev,")
    const { data }: Json = JSON.parse(await saved("Save as JSON"))
    assert.deepStrictEqual(
      data.map(({ env }: Json) => env),
      ["dev", "staging", "prod"]
    )
    await page.getByLabel("At least").selectOption("write")
    await row("grace-who@example.com").waitFor({ state: "detached" })
    await visit.press("Record a review")
    await visit.fill("Note (optional)", "fourth quarter")
    await dialog.getByRole("button", { name: "Record" }).click()
    await visit.sees("The review is recorded.")
    const log = await ada.call("GET", `${api}/audit-logs?action=acl.review`)
    assert.deepStrictEqual(
      log.data.map(({ metadata }: Json) => [metadata.env, metadata.permission, metadata.note, metadata.people]).sort(),
      [
        ["dev", "write", "fourth quarter", 1],
        ["prod", "write", "fourth quarter", 1],
        ["staging", "write", "fourth quarter", 1]
      ]
    )
    await page.getByText("just now by").first().waitFor()
    await visit.close()
  })
})
