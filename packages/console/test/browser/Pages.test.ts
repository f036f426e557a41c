import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { Person } from "../support/Person.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`
const canary = "canary-4f6a8b0c1d90"

describe.skipIf(!hasBrowser())(`the pages of an organization${why}`, () => {
  let ada: Person
  let visit: Visit

  beforeAll(async () => {
    ada = await Person.login("ada@example.com")
    await ada.organization("acme", { dev: { DATABASE_URL: canary }, prod: { DATABASE_URL: canary, API_KEY: canary } })
    visit = await Visit.open("/acme/-/members", ada)
  })
  afterAll(async () => {
    await visit.close()
  })

  it("members: invites a person, changes the role, explains the access, and removes by name", async () => {
    await visit.fill("E-mail address", "grace@example.com")
    await visit.press("Invite")
    await visit.page.getByLabel("Role of grace@example.com").selectOption("admin")
    await visit.press(/^Explain the access of grace/)
    await visit.sees("by the role admin")
    await visit.isAccessible("explain")
    await visit.page.keyboard.press("Escape")
    await visit.isAccessible("members")
    await visit.press(/^Remove grace/)
    await visit.fill(/^Type/, "grace@example.com")
    await visit.page.locator("dialog").getByRole("button", { name: "Remove" }).click()
    await visit.page.getByText("grace@example.com").first().waitFor({ state: "detached" })
  })

  it("rules: shows what a pattern covers while it is typed, and grants and revokes", async () => {
    await ada.call("POST", "/api/orgs/acme/members", { email: "hal@example.com" })
    await ada.call("POST", "/api/orgs/acme/projects", { name: "blog" })
    await visit.page.getByRole("link", { name: "Rules" }).click()
    await visit.page.getByLabel("Who").selectOption("hal@example.com")
    await visit.fill("Projects", "web*")
    await visit.sees("1 of 2 projects.")
    await visit.fill("Environments", "{dev,staging}")
    await visit.sees("1 of 2 projects, where marked.")
    const covered = visit.page.locator(".rules-places .badge.good")
    await covered.nth(1).waitFor()
    assert.deepStrictEqual(await covered.allTextContents(), ["✓ dev is covered", "✓ staging is covered"])
    await visit.isAccessible("rule editor")
    await visit.press("Grant read")
    await visit.page.getByRole("row").filter({ hasText: "web*/{dev,staging}" }).waitFor()
    await visit.isAccessible("rules")
    await visit.press(/^Revoke the rule of hal/)
    await visit.isAccessible("revoke")
    await visit.page.locator("dialog").getByRole("button", { name: "Revoke" }).click()
    await visit.sees("There are no rules yet.")
  })

  it("service accounts: ends with the lines for where it runs, and shows the key once", async () => {
    await visit.page.getByRole("link", { name: "Service accounts" }).click()
    await visit.sees("There are no service accounts yet.")
    await visit.press("New service account")
    await visit.fill("Name", "deploy")
    await visit.page.getByLabel("Project", { exact: true }).selectOption("webshop")
    await visit.isAccessible("wizard")
    await visit.press("Create")
    await visit.sees("the only time that the key is shown")
    const key = await visit.page.locator(".accounts-key code").innerText()
    assert.match(key, /^svc_sa_/)
    for (const target of ["GitHub", "GitLab", "Kubernetes", "Docker", "systemd", "agent"]) {
      await visit.page.getByLabel("It runs in").selectOption(target)
      const lines = (await visit.page.locator("pre").allInnerTexts()).join("\n")
      assert.include(lines, "webshop", target)
      assert.notInclude(lines, key)
    }
    await visit.isAccessible("recipe")
    await visit.page.keyboard.press("Escape")
    await visit.press(/^Rotate the key of deploy/)
    await visit.page.locator("dialog").getByRole("button", { name: "Rotate" }).click()
    await visit.sees("the only time that the key is shown")
    await visit.page.keyboard.press("Escape")
    await visit.isAccessible("service accounts")
    const kept = await visit.page.evaluate(
      "JSON.stringify([document.documentElement.outerHTML, document.title, location.href, history.state, {...localStorage}, {...sessionStorage}])"
    )
    assert.notInclude(String(kept), key)
    assert.notInclude(String(kept), "svc_sa_")
  })

  it("audit: filters, verifies and shows the head", async () => {
    await visit.page.getByRole("link", { name: "Audit" }).click()
    await visit.page.locator(".audit-entries").getByText("service_account.rotate").waitFor()
    await visit.page
      .locator(".audit-activity")
      .getByText(/entries since/)
      .waitFor()
    await visit.page.locator(".audit-activity").getByLabel("by").selectOption("actor")
    await visit.page.locator(".audit-activity").getByRole("button", { name: "ada@example.com" }).waitFor()
    await visit.press("Verify the log")
    await visit.sees("No entry was changed, removed or inserted")
    await visit.isAccessible("audit")
    await visit.page.getByLabel("Action").selectOption("secret.set")
    await visit.sees("3 entries")
    await visit.page.getByLabel("Key").fill("API_KEY")
    await visit.page.getByLabel("Key").press("Tab")
    await visit.sees("1 entry")
    await visit.page.getByLabel("Follow").check()
    await ada.call("PUT", "/api/orgs/acme/projects/webshop/envs/dev/secrets/API_KEY", { value: canary })
    await visit.sees("2 entries")
    assert.notInclude(await visit.page.content(), canary)
  })

  it("account: shows the sessions and ends one", async () => {
    await Person.login("ada@example.com")
    await visit.page.goto(new URL("/-/account", visit.page.url()).href)
    await visit.sees("this browser")
    await visit.isAccessible("account")
    await visit.press(/^End the session/)
    await visit.page.getByRole("button", { name: /^End the session/ }).waitFor({ state: "detached" })
  })
})

describe.skipIf(!hasBrowser())(`the pages of the server${why}`, () => {
  it("backups: makes one, checks it, and says what a restore leaves to do", async () => {
    const root = await Person.login("root@example.com")
    const visit = await Visit.open("/-/backups", root)
    await visit.sees("There are no backups yet.")
    await visit.press("Back up now")
    await visit.press(/^Check the backup/)
    await visit.sees("intact")
    await visit.page.keyboard.press("Escape")
    await visit.press(/^Restore the backup/)
    await visit.press("Decrypt it")
    await visit.sees("Stop the server.")
    await visit.isAccessible("restore")
    await visit.page.keyboard.press("Escape")
    await visit.isAccessible("backups")
    await visit.page.getByRole("link", { name: "People" }).click()
    await visit.sees("healthy")
    await visit.page.getByRole("row").filter({ hasText: "root@example.com" }).waitFor()
    await visit.isAccessible("people")
    await visit.close()
  })

  it("names full of markup are text", async () => {
    const ada = await Person.login("markup@example.com")
    await ada.organization("markup")
    const name = "a-b.c_d e"
    await ada.call("POST", "/api/orgs/markup/service-accounts", { name })
    const email = "'*+/=?^_`{|}~-#$%&!@example.com"
    await ada.call("POST", "/api/orgs/markup/members", { email })
    const visit = await Visit.open("/markup/-/members", ada)
    await visit.sees(email)
    await visit.page.getByRole("link", { name: "Service accounts" }).click()
    await visit.sees(name)
    await visit.close()
  })

  it("a member sees what is missing, and gets no page that needs more", async () => {
    const ada = await Person.login("owner@example.com")
    await ada.organization("limits")
    await ada.call("POST", "/api/orgs/limits/members", { email: "low@example.com", role: "member" })
    const low = await Person.login("low@example.com")
    const visit = await Visit.open("/limits/-/members", low)
    await visit.sees("To invite people, one needs the role admin.")
    assert.match(await visit.page.locator(".tab.off").first().innerText(), /needs the role admin/)
    await visit.isAccessible("members without rights")
    await visit.page.goto(new URL("/limits/-/audit", visit.page.url()).href)
    await visit.sees(/this needs the role admin/i)
    await visit.isAccessible("an error")
    await visit.close()
  })
})
