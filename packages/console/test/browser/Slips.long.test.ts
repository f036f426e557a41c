import { afterAll, assert, beforeAll, describe, expect, inject, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { type Json, Person } from "../support/Person.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`
const of = (name: string) => `${name}@slips.example.com`
const org = "slips-of-the-mouse"
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
    await visit.page.mouse.click(640, 3)
    assert.strictEqual(await dialog().getByLabel("Address").inputValue(), "https://hooks.example.com")
    await dialog().getByLabel("Address").fill("")
    await dialog().getByLabel("Events").fill("")
    await dialog().getByLabel("Environments").fill("")
    await visit.page.mouse.click(640, 3)
    await dialog().waitFor({ state: "detached" })
  })

  it("a rule ends by the server's time: the clock of the person may be wrong, or have stood while the machine slept", async () => {
    const other = await Visit.open("/", ada)
    await other.page.addInitScript(
      `{ const now = performance.now.bind(performance); performance.now = () => now() - ${3 * hour} }`
    )
    await other.page.goto(`${inject("server").url}/${org}/-/rules`)
    await other.press("New rule")
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
    await visit.press("New rule")
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

  it("an environment can be chosen also after a project without environments, and what was typed stays", async () => {
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
    await visit.leaveKey()
    await open(`/${org}/-/accounts`)
    await visit.press("New service account")
    await dialog().getByLabel("Name").fill("typed")
    await visit.sees("a-first has no environment.")
    await dialog().getByLabel("Project").selectOption("webshop")
    await dialog().getByLabel("Environment that it reads").selectOption("prod")
    assert.strictEqual(await dialog().getByLabel("Name").inputValue(), "typed")
    await visit.page.keyboard.press("Escape")
    await visit.press("Leave it")
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

    const menu = visit.page.getByRole("menuitem", { name: "My account" })
    const account = visit.page.getByRole("button", { name: `Account of ${of("ada")}` })
    await account.click()
    await menu.waitFor()
    await visit.page.getByRole("heading", { name: "Groups", level: 1 }).click()
    await menu.waitFor({ state: "hidden" })
    await account.press("Enter")
    await visit.page.keyboard.press("Escape")
    await menu.waitFor({ state: "hidden" })
    await account.click()
    await menu.click()
    await visit.page.getByRole("heading", { name: "My account" }).waitFor()
    assert.isFalse(await menu.isVisible())
  })

  it("the focus stays with the keyboard when a button is disabled for a while, or goes with its row", async () => {
    await ada.call("POST", `${api}/members`, { email: of("dora"), role: "member" })
    const focused = () => visit.page.evaluate("document.activeElement.textContent.slice(0, 40)")
    /** Presses a button by the keyboard, and waits until it has done its work. */
    const press = async (name: string) => {
      const button = visit.page.getByRole("button", { name }).last()
      await button.focus()
      await visit.page.keyboard.press("Enter")
      await visit.page.waitForTimeout(400)
    }
    await open(`/${org}/-/groups`)
    await visit.page.getByRole("link", { name: "back-end" }).focus()
    await visit.page.keyboard.press("Enter")
    await press("Add to the group")
    assert.strictEqual(await focused(), "Add to the group")
    await press(`Remove ${of("ada")}`)
    assert.match(String(await focused()), /^Members of back-end/)
    await visit.page.keyboard.press("Escape")
    await ada.call("POST", "/api/auth/delegations", {
      ...{ name: "script", org, project: "webshop", env: "dev", permission: "read", reveal: true, expires_in: 3600 }
    })
    await open("/-/account")
    const row = visit.page.getByRole("row", { name: /^script / })
    await row.waitFor()
    await visit.press("Revoke the delegation to script")
    await visit.confirm("Revoke")
    await row.waitFor({ state: "detached" })
    await visit.page.waitForTimeout(100)
    assert.strictEqual(await visit.page.evaluate("document.activeElement.id"), "page")
  })

  it("the palette does not take the page from beneath a dialog", async () => {
    await open(`/${org}/-/webhooks`)
    await visit.press("New webhook")
    await visit.page.keyboard.press("Control+k")
    await visit.page.waitForTimeout(100)
    assert.strictEqual(await visit.page.getByRole("combobox", { name: "A place, a key or an action" }).count(), 0)
    await visit.page.keyboard.press("Escape")
    await visit.page.keyboard.press("Control+k")
    await visit.page.getByRole("combobox", { name: "A place, a key or an action" }).waitFor()
    await visit.page.keyboard.press("Escape")
  })

  it("a page that the browser has kept is read again when it comes back", async () => {
    await visit.page.evaluate("window.isOld = true")
    const loaded = visit.page.waitForEvent("load")
    await visit.page.evaluate(`dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }))`)
    await loaded
    assert.isUndefined(await visit.page.evaluate("window.isOld"))
  })

  it("deliveries after the first ones are shown too", async () => {
    const hook = { url: "https://hooks.invalid/x", events: ["secret.*"], environments: ["dev"], format: "slack" }
    await ada.call("POST", `${api}/webhooks`, hook)
    const set = Object.fromEntries(Array.from({ length: 22 }, (_, index) => [`KEY_${index}`, "1"]))
    for (const [key, value] of Object.entries(set)) {
      await ada.call("PUT", `${api}/projects/webshop/envs/dev/secrets/${key}`, { value })
    }
    await open(`/${org}/-/webhooks`)
    await visit.press(/^Deliveries/)
    const rows = dialog().getByRole("button", { name: /^Send again/ })
    await expect.poll(() => rows.count(), { timeout: 10_000 }).toBe(20)
    await visit.press("Older deliveries")
    await expect.poll(() => rows.count(), { timeout: 10_000 }).toBe(22)
    await visit.page
      .getByRole("button", { name: /secret\.set/ })
      .first()
      .click()
    await visit.sees("Event, which is sent as a message")
    await visit.isAccessible("older deliveries")
    await visit.page.keyboard.press("Escape")
  })

  it("a key that the browser does not copy is said to be not copied", async () => {
    await open(`/${org}/-/accounts`)
    await visit.press("Rotate the key of group backend")
    await dialog().getByRole("button", { name: "Rotate" }).click()
    await visit.sees("This is the only time that the key is shown.")
    // As on a page that is not served over https.
    await visit.page.evaluate(`Object.defineProperty(navigator, "clipboard", { value: undefined, configurable: true })`)
    await visit.press("Copy the key")
    await visit.sees("mark the text and copy it.")
    await visit.leaveKey()
  })

  it("a person is offered to ask for what the role can have", async () => {
    const dora = await Person.login(of("dora"))
    const other = await Visit.open(`/${org}/webshop`, dora)
    await other.press("Ask for access…")
    await other.page.getByLabel("Permission").waitFor()
    assert.deepStrictEqual(await other.page.getByLabel("Permission").locator("option").allInnerTexts(), ["use", "read"])
    await other.page.keyboard.press("Escape")
    await other.close()
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
