import { afterAll, assert, beforeAll, describe, inject, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { type Json, Person } from "../support/Person.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`
const of = (name: string) => `${name}@slips.example.com`
const org = "slips"
const api = `/api/orgs/${org}`
const hour = 3_600_000

describe.skipIf(!hasBrowser())(`slips and surprises${why}`, { timeout: 60_000 }, () => {
  let ada: Person
  let bob: Person
  let visit: Visit

  const dialog = () => visit.page.locator("dialog[open]").last()
  const open = (path: string) => visit.page.goto(inject("server").url + path)
  const rules = async (): Promise<ReadonlyArray<Json>> => (await ada.call("GET", `${api}/acl`)).data

  beforeAll(async () => {
    ada = await Person.login(of("ada"))
    await ada.organization(org, { dev: { API_KEY: "1" } })
    await ada.call("POST", `${api}/members`, { email: of("bob"), role: "developer" })
    bob = await Person.login(of("bob"))
    visit = await Visit.open(`/${org}`, ada)
  })
  afterAll(async () => {
    await visit.close()
  })

  it("a press on the edge or the scroll bar of a dialog does not close it, and one beside it loses no typed text", async () => {
    await open(`/${org}/-/webhooks`)
    await visit.press("New webhook")
    const box = (await dialog().boundingBox()) ?? assert.fail("the dialog has no place")
    await visit.page.mouse.click(box.x + 0.5, box.y + box.height / 2)
    await dialog().getByLabel("Address").fill("https://hooks.example.com")
    await visit.page.mouse.click(3, 3)
    assert.strictEqual(await dialog().getByLabel("Address").inputValue(), "https://hooks.example.com")
    await dialog().getByLabel("Address").fill("")
    await dialog().getByLabel("Events").fill("")
    await dialog().getByLabel("Environments").fill("")
    await visit.page.mouse.click(3, 3)
    await dialog().waitFor({ state: "detached" })
  })

  it("a rule ends by the server's time: the clock of the person may be wrong, or have stood while the machine slept", async () => {
    const other = await Visit.open("/", ada)
    await other.page.addInitScript(
      `{ const now = performance.now.bind(performance); performance.now = () => now() - ${3 * hour} }`
    )
    await other.page.goto(`${inject("server").url}/${org}/-/rules`)
    await other.page.getByLabel("Who").selectOption(of("bob"))
    await other.fill("Projects", "clock")
    await other.fill("Environments", "dev")
    await other.page.getByLabel("Ends").selectOption("in 1 hour")
    await other.press("Grant read")
    await other.page.getByRole("row", { name: /clock\/dev read in (59|60) minutes/ }).waitFor()
    const rule = (await rules()).find(({ project_pattern }) => project_pattern === "clock")
    assert.closeTo(Date.parse(rule.expires_at) - Date.now(), hour, hour / 12)
    await other.close()
  })

  it("a rule is granted to the account that was chosen, and not to the group of that name", async () => {
    await ada.call("POST", `${api}/groups`, { name: "backend" })
    await ada.call("POST", `${api}/service-accounts`, { name: "group backend" })
    await open(`/${org}/-/rules`)
    await visit.page
      .getByLabel("Who")
      .locator("option", { hasText: "group backend" })
      .last()
      .waitFor({ state: "attached" })
    const choices: ReadonlyArray<string> = await visit.page.getByLabel("Who").locator("option").allInnerTexts()
    assert.strictEqual(new Set(choices).size, choices.length)
    await visit.page.getByLabel("Who").selectOption({ index: choices.length - 1 })
    await visit.fill("Projects", "same")
    await visit.fill("Environments", "dev")
    await visit.press("Grant read")
    await visit.page.getByRole("row", { name: /same\/dev/ }).waitFor()
    const rule = (await rules()).find(({ project_pattern }) => project_pattern === "same")
    assert.deepInclude(rule, { subject_type: "service_account", name: "group backend" })
  })

  it("an environment is chosen also after a project that has none, and what was typed stays", async () => {
    await ada.call("POST", `${api}/projects`, { name: "a-first" })
    for (const env of ["dev", "staging", "prod"]) await ada.call("DELETE", `${api}/projects/a-first/envs/${env}`)
    await open("/-/account")
    await visit.press("New delegation")
    await dialog().getByLabel("For", { exact: true }).fill("claude")
    await dialog().getByLabel("Project").selectOption("a-first")
    await visit.sees("a-first has no environment.")
    await dialog().getByLabel("Project").selectOption("webshop")
    await dialog().getByLabel("Environment").selectOption("dev")
    assert.strictEqual(await dialog().getByLabel("For", { exact: true }).inputValue(), "claude")
    await dialog().getByRole("button", { name: "Delegate", exact: true }).click()
    await visit.sees("This is the only time that the token is shown.")
    await visit.page.keyboard.press("Escape")
    await open(`/${org}/-/accounts`)
    await visit.press("New service account")
    await dialog().getByLabel("Name").fill("typed")
    await visit.sees("a-first has no environment.")
    await dialog().getByLabel("Project").selectOption("webshop")
    await dialog().getByLabel("Environment that it reads").selectOption("prod")
    assert.strictEqual(await dialog().getByLabel("Name").inputValue(), "typed")
    await visit.page.keyboard.press("Escape")
  })

  it("a dialog closes when it has done its work, and a menu when the person goes elsewhere", async () => {
    await open(`/${org}/-/groups`)
    await visit.press("Rename backend")
    await dialog().getByLabel("Name of the group").fill("back-end")
    await dialog().getByRole("button", { name: "Rename" }).click()
    await visit.page.getByRole("row", { name: /^back-end/ }).waitFor()
    await dialog().waitFor({ state: "detached" })
    await visit.press("Delete the group back-end")
    assert.notInclude(await dialog().innerText(), "0 access rules")
    await visit.page.keyboard.press("Escape")

    const menu = visit.page.getByRole("link", { name: "My account" })
    const account = visit.page.getByLabel(`Account of ${of("ada")}`)
    await account.click()
    await menu.waitFor()
    await visit.page.getByRole("heading", { name: "Groups", exact: true }).click()
    await menu.waitFor({ state: "hidden" })
    await account.press("Enter")
    await visit.page.keyboard.press("Escape")
    await menu.waitFor({ state: "hidden" })
    await account.click()
    await menu.click()
    await visit.page.getByRole("heading", { name: "My account" }).waitFor()
    assert.isFalse(await visit.page.locator(".sheet").isVisible())
  })

  it("a page that may not be read any more is not asked for again and again", async () => {
    const other = await Visit.open(`/${org}/-/approvals`, bob)
    await other.page.clock.install()
    await other.page.reload()
    await other.sees("No request waits.")
    /** Lets the page read its list, again if it wants to. */
    const poll = async () => {
      await other.page.clock.runFor(3_100)
      await other.page.waitForTimeout(200)
    }
    const { data } = await ada.call("GET", `${api}/members`)
    await ada.call("DELETE", `${api}/members/${data.find(({ email }: Json) => email === of("bob")).user_id}`)
    const asked: Array<string> = []
    other.page.on("request", (request) => {
      if (request.url().includes(`${api}/requests`)) asked.push(request.url())
    })
    await poll()
    await other.page.locator(".problem").waitFor()
    const before = asked.length
    await poll()
    await poll()
    assert.strictEqual(asked.length, before)
    await other.close()
  })
})
