import { assert, describe, inject, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { cellOf } from "../support/Cells.js"
import { type Json, Person } from "../support/Person.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`

const denied = async (owner: Person, org: string) =>
  (await owner.call("GET", `/api/orgs/${org}/audit-logs?action=access.denied`)).data

describe.skipIf(!hasBrowser())(`rights and names in the console${why}`, () => {
  it("a page says which right it needs, without a call that the server refuses and records", async () => {
    const ada = await Person.login("owner-of-rights@example.com")
    await ada.organization("rights", { dev: { KEY: "1" } })
    await ada.call("POST", "/api/orgs/rights/members", { email: "bob-of-rights@example.com", role: "member" })
    const bob = await Person.login("bob-of-rights@example.com")
    const visit = await Visit.open("/rights", bob)
    for (const page of ["groups", "rules", "accounts", "webhooks", "audit"]) {
      await visit.page.goto(`${inject("server").url}/rights/-/${page}`)
      await visit.sees("needs the role admin")
      assert.strictEqual(await visit.page.getByRole("button", { name: "Try again" }).count(), 0, page)
    }
    await visit.isAccessible("a page without the right")
    for (const page of ["users", "server", "backups"]) {
      await visit.page.goto(`${inject("server").url}/-/${page}`)
      await visit.sees("needs a superadmin")
    }
    assert.deepStrictEqual(await denied(ada, "rights"), [])
    await visit.close()
  }, 120_000)

  it("no page that a developer may see makes a call that the server refuses", async () => {
    const ada = await Person.login("owner-of-pages@example.com")
    await ada.organization("all-pages", { dev: { KEY: "1" }, staging: { KEY: "2" }, prod: { KEY: "3" } })
    await ada.call("POST", "/api/orgs/all-pages/members", { email: "bob-of-pages@example.com", role: "developer" })
    await ada.call("POST", "/api/orgs/all-pages/acl", {
      subject_type: "user",
      email: "bob-of-pages@example.com",
      project_pattern: "*",
      env_pattern: "dev",
      permission: "write"
    })
    const bob = await Person.login("bob-of-pages@example.com")
    const visit = await Visit.open("/", bob)
    const see = async (path: string, text: string) => {
      await visit.page.goto(inject("server").url + path)
      await visit.sees(text)
      await visit.page.waitForLoadState("networkidle")
      assert.strictEqual(await visit.page.getByRole("alert").count(), 0, path)
    }
    await see("/-/account", "End all sessions")
    await see("/all-pages", "Projects of all-pages")
    await see("/all-pages/-/members", "owner-of-pages@example.com")
    const explain = (email: string) =>
      visit.page.getByRole("menuitem", { name: `Explain the access of ${email}`, includeHidden: true })
    assert.isTrue(await explain("owner-of-pages@example.com").isDisabled())
    assert.isTrue(await explain("bob-of-pages@example.com").isEnabled())
    await see("/all-pages/-/approvals", "No request waits")
    await see("/all-pages/-/settings", "Settings of all-pages")
    await see("/all-pages/webshop", "KEY")
    await see("/all-pages/webshop/-/settings", "Settings of webshop")
    await see("/all-pages/webshop/KEY?env=dev", "current")
    await see("/all-pages/webshop/KEY?env=prod", "current")
    await see("/all-pages/webshop/-/promote", "it needs a rule with the permission read for staging")
    await see("/all-pages/webshop/-/promote?from=dev&to=prod", "a rule with the permission write for prod")
    await visit.isAccessible("promote without the right")
    assert.deepStrictEqual(await denied(ada, "all-pages"), [])
    await visit.close()
  }, 120_000)

  it("offers no second try where a right is missing, and leaves names as they were typed", async () => {
    const ada = await Person.login("refused@example.com")
    await ada.organization("refusals", { dev: { KEY: "1" } })
    const visit = await Visit.open("/refusals", ada)
    const address = "**/refusals/projects/webshop/matrix?*"
    const refuse = (status: number, code: string, message: string) =>
      visit.page.route(address, (route) => route.fulfill({ status, json: { error: { code, message } } }))
    await refuse(403, "FORBIDDEN", "bob@example.com has no rule here")
    await visit.page.goto(`${inject("server").url}/refusals/webshop`)
    await visit.page.getByText("bob@example.com has no rule here.", { exact: true }).waitFor()
    assert.strictEqual(await visit.page.getByRole("button", { name: "Try again" }).count(), 0)
    await visit.page.unroute(address)
    await refuse(404, "NOT_FOUND", "deploy is not a service account")
    await visit.page.reload()
    await visit.page.getByText("deploy is not a service account.", { exact: true }).waitFor()
    await visit.isAccessible("an error")
    await visit.page.unroute(address)
    await visit.press("Try again")
    await cellOf(visit, "KEY", "dev").waitFor()
    await visit.close()
  }, 120_000)

  it("orders environments alike on every page", async () => {
    const ada = await Person.login("orders@example.com")
    await ada.organization("orders", { dev: { KEY: "1" } })
    for (const name of ["qa", "canary"]) await ada.call("POST", "/api/orgs/orders/projects/webshop/envs", { name })
    const expected = ["dev", "qa", "staging", "prod", "canary"]
    const visit = await Visit.open("/orders/webshop", ada)
    await cellOf(visit, "KEY", "dev").waitFor()
    const heads = await visit.page.locator("[role=columnheader].matrix-env [aria-pressed]").allInnerTexts()
    assert.deepStrictEqual(heads, expected)
    const { url } = inject("server")
    await visit.page.goto(`${url}/orders/webshop/-/settings`)
    await visit.page.getByRole("link", { name: "canary" }).waitFor()
    const rows: Json = await visit.page.locator("tbody th a").allInnerTexts()
    assert.deepStrictEqual(rows, expected)
    await visit.page.goto(`${url}/orders/webshop/-/promote`)
    await visit.page.getByLabel("From").waitFor()
    assert.deepStrictEqual(await visit.page.getByLabel("From").locator("option").allInnerTexts(), expected)
    await visit.page.goto(`${url}/orders/-/members`)
    await visit.press(/^Explain/)
    await visit.page.getByLabel("Environment").waitFor()
    assert.deepStrictEqual(await visit.page.getByLabel("Environment").locator("option").allInnerTexts(), expected)
    await visit.page.goto(`${url}/orders/-/accounts`)
    await visit.press(/service account/)
    await visit.page.getByLabel("Environment that it reads").waitFor()
    const choices = visit.page.getByLabel("Environment that it reads").locator("option")
    assert.deepStrictEqual(await choices.allInnerTexts(), expected)
    await visit.close()
  }, 120_000)

  it("sends no Permissions-Policy that the browser does not know", async () => {
    const visit = await Visit.open("/")
    // Without a session, the page goes to the login, which would interrupt the next visit.
    await visit.page.waitForURL("**/login?**")
    const lines: Array<string> = []
    visit.page.on("console", (message) => lines.push(message.text()))
    const answer = await visit.page.goto(`${inject("server").url}/`, { waitUntil: "load" })
    assert.notInclude(answer?.headers()["permissions-policy"] ?? "", "web-share")
    assert.deepStrictEqual(
      lines.filter((line) => line.includes("Permissions-Policy")),
      []
    )
    await visit.close()
  }, 120_000)
})
