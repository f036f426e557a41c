import { afterAll, assert, beforeAll, describe, expect, inject, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { cellOf } from "../support/Cells.js"
import { hold } from "../support/Hold.js"
import { type Json, Person } from "../support/Person.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`
const of = (name: string) => `${name}@meanwhile.example.com`
const org = "meanwhile"
const api = `/api/orgs/${org}`
const prod = `${api}/projects/webshop/envs/prod`

describe.skipIf(!hasBrowser())(`an answer that comes late${why}`, { timeout: 60_000 }, () => {
  let ada: Person
  let bob: Person
  let carl: Person
  let visit: Visit

  const dialog = () => visit.page.locator("dialog[open]").last()
  const open = (path: string) => visit.page.goto(inject("server").url + path)
  const nameOf = (field: Json) => field.map(({ name }: Json) => name)

  beforeAll(async () => {
    ada = await Person.login(of("ada"))
    await ada.organization(org, { dev: { API_KEY: "1" }, prod: { API_KEY: "canary-1" } })
    await ada.call("POST", "/api/orgs", { name: "elsewhere-to-go" })
    for (const name of ["bob", "carl"]) {
      await ada.call("POST", `${api}/members`, { email: of(name), role: name === "bob" ? "admin" : "developer" })
    }
    ;[bob, carl] = await Promise.all([Person.login(of("bob")), Person.login(of("carl"))])
    // Only then, bob counts as a voter.
    await bob.accept()
    visit = await Visit.open(`/${org}`, ada)
  })
  afterAll(async () => {
    await visit.close()
  })

  it("brings a key shown once: its dialog stays open for it, and no click beside it closes the dialog or the key", async () => {
    await ada.call("POST", `${api}/service-accounts`, { name: "deploy" })
    await open(`/${org}/-/accounts`)
    await visit.press("Rotate the key of deploy")
    await dialog().getByLabel("The old key stays valid").selectOption("not at all")
    const release = await hold(visit.page, "POST", "**/rotate")
    await dialog().getByRole("button", { name: "Rotate" }).click()
    await visit.page.keyboard.press("Escape")
    await visit.page.keyboard.press("Escape")
    await visit.page.mouse.click(640, 3)
    assert.isTrue(await dialog().getByRole("button", { name: "Cancel" }).isDisabled())
    await release()
    await visit.sees("This is the only time that the key is shown.")
    await visit.page.mouse.click(640, 3)
    await visit.sees("This is the only time that the key is shown.")
    assert.strictEqual(await dialog().evaluate(({ clientWidth, scrollWidth }) => scrollWidth - clientWidth), 0)
    await visit.leaveKey()
    await dialog().waitFor({ state: "detached" })
  })

  it("does not lead away from the page open by then", async () => {
    await ada.call("POST", `${api}/projects`, { name: "before" })
    await open(`/${org}/before/-/settings`)
    await visit.fill("Name of the project", "after")
    const release = await hold(visit.page, "PATCH", `**${api}/projects/before`)
    await visit.press("Rename")
    await visit.page.getByRole("link", { name: org }).click()
    await visit.sees("What you have typed as “Name of the project” is kept nowhere yet.")
    await visit.confirm("Leave it")
    await visit.page.getByRole("heading", { name: `Projects of ${org}` }).waitFor()
    await release()
    assert.strictEqual(new URL(visit.page.url()).pathname, `/${org}`)
    assert.include(nameOf((await ada.call("GET", `${api}/projects`)).data), "after")
  })

  it("shows no values once the list of requests is another one", async () => {
    await ada.call("PUT", `${prod}/protection`, { needed: 1, approvers: [of("bob")] })
    await visit.page.evaluate(
      `fetch("${prod}/secrets/API_KEY", { method: "PUT", body: JSON.stringify({ value: "canary-2" }),
        headers: { "content-type": "application/json", "x-coffer": "1", prefer: "respond-async" } })`
    )
    const other = await Visit.open(`/${org}/-/approvals`, bob)
    const release = await hold(other.page, "GET", "**/values")
    await other.press(/^Reveal/)
    await other.page.getByLabel("Show").selectOption("done")
    await other.sees("There are none that you may see.")
    await release()
    await other.page.getByLabel("Show").selectOption("waiting")
    await other.page.getByRole("button", { name: /^Reveal/ }).waitFor()
    assert.notInclude(await other.page.content(), "canary-")
    await other.close()
  })

  it("is told with the way to the request, wherever the person has gone", async () => {
    const other = await Visit.open("/", carl)
    await other.page.getByRole("link", { name: org }).first().click()
    await other.page.getByRole("link", { name: "webshop" }).click()
    await other.press("Ask for access…")
    await other.fill("Reason", "to look")
    const release = await hold(other.page, "POST", "**/requests")
    await other.page.locator("dialog").getByRole("button", { name: "Ask", exact: true }).click()
    await other.page.evaluate("history.go(-3)")
    await other.sees("“Ask for access” is still at work, and shows here what comes of it.")
    await other.confirm("Leave it")
    await other.page.getByRole("heading", { name: "Organizations" }).waitFor()
    await release()
    await other.sees("Your request for webshop/dev waits for approval")
    await other.page.getByRole("link", { name: "See the request" }).click()
    await other.press("Withdraw your request for webshop/dev")
    await other.confirm("Withdraw")
    await other.sees("Withdrawn: your request")
    await other.close()
  })

  it("is no file and no copy any more once its dialog was closed", async () => {
    await open(`/${org}/webshop`)
    await cellOf(visit, "API_KEY", "dev").waitFor()
    await visit.page.keyboard.press("Control+k")
    await visit.page.getByRole("combobox", { name: "A place, a key or an action" }).fill("Export secrets")
    await visit.page.getByRole("option", { name: /^Export secrets/ }).waitFor()
    await visit.page.keyboard.press("Enter")
    const saved: Array<string> = []
    visit.page.on("download", (download) => saved.push(download.suggestedFilename()))
    const release = await hold(visit.page, "GET", "**/envs/dev/**")
    await dialog().getByRole("button", { name: "Download" }).click()
    await dialog().getByRole("button", { name: "Close" }).last().click()
    await release()
    assert.deepStrictEqual(saved, [])
  })

  it("what is typed on a page is not for the same page of another organization", async () => {
    await ada.call("POST", "/api/orgs", { name: "empty-here" })
    await open("/empty-here")
    await visit.fill("Name of the project", "typed-for-one")
    await visit.page.keyboard.press("Control+k")
    await visit.page.getByRole("combobox", { name: "A place, a key or an action" }).fill("elsewhere-to-go")
    await visit.page.getByRole("option", { name: "elsewhere-to-go organization" }).waitFor()
    await visit.page.keyboard.press("Enter")
    await visit.sees("What you have typed as “Name of the project” is kept nowhere yet.")
    await visit.confirm("Leave it")
    await visit.page.getByRole("heading", { name: "Projects of elsewhere-to-go" }).waitFor()
    assert.strictEqual(await visit.page.getByLabel("Name of the project").inputValue(), "")
  })

  it("counts and lists all requests that wait, each once, while others decide", async () => {
    const ask = (env: string, reason: string) =>
      carl.call("POST", `${api}/requests`, {
        ...{ kind: "access", project: "webshop", env, permission: "read", expires_in: 3600, reason }
      })
    for (let index = 0; index < 11; index++) await ask("dev", `dev ${index}`)
    const last = []
    for (let index = 0; index < 11; index++) last.push(await ask("staging", `staging ${index}`))
    const other = await Visit.open(`/${org}/-/approvals`, bob)
    const cards = other.page.locator(".approvals-one")
    await expect.poll(() => cards.count()).toBe(20)
    await other.page.waitForTimeout(500)
    await expect.poll(() => other.page.title()).toBe(`(23) Requests · ${org} · Coffer`)
    await other.press("Older requests")
    await expect.poll(() => cards.count()).toBe(23)
    for (const { id } of last.slice(0, 3)) await ada.call("POST", `${api}/requests/${id}/refuse`)
    await expect.poll(() => cards.count(), { timeout: 8_000 }).toBe(20)
    const ids: Json = await other.page.evaluate("[...document.querySelectorAll('.approvals-one')].map(({ id }) => id)")
    assert.strictEqual(new Set(ids).size, 20)
    assert.strictEqual(await other.page.title(), `(20) Requests · ${org} · Coffer`)
    await other.close()
  })

  it("does not move a request beneath the pointer: a new one is the last, and a double click is one decision", async () => {
    const asking = await ada.call("GET", `${api}/requests?state=pending&limit=100`)
    const ofCarl = asking.data.filter(({ env }: Json) => env !== "prod")
    for (const { id } of ofCarl.slice(1)) await ada.call("POST", `${api}/requests/${id}/refuse`)
    const other = await Visit.open(`/${org}/-/approvals`, bob)
    const { page } = other
    const cards = page.locator(".approvals-one")
    await expect.poll(() => cards.count()).toBe(2)
    const first = await cards.first().getAttribute("id")
    await carl.call("POST", `${api}/requests`, {
      ...{ kind: "access", project: "webshop", env: "dev", permission: "read", expires_in: 3600, reason: "the newest" }
    })
    await page.getByText("A new request waits: the last one.").waitFor()
    assert.strictEqual(await cards.first().getAttribute("id"), first)
    await cards.last().getByText("the newest").waitFor()

    const refuse = cards.first().getByRole("button", { name: /^Refuse/ })
    await refuse.click()
    await other.confirm("Refuse")
    await expect.poll(() => cards.count()).toBe(2)
    const { x, y } = (await refuse.boundingBox()) ?? assert.fail("the next request has no button")
    await page.mouse.move(x + 5, y + 5)
    await page.mouse.down({ clickCount: 2 })
    await page.mouse.up({ clickCount: 2 })
    await page.waitForTimeout(400)
    assert.strictEqual(await cards.count(), 2)
    await page.mouse.click(x + 5, y + 5)
    await other.confirm("Refuse")
    await expect.poll(() => cards.count()).toBe(1)
    await other.close()
  })

  it("a mapping that somebody removed meanwhile does not come back", async () => {
    for (const name of ["backend", "frontend"]) await ada.call("POST", `${api}/groups`, { name })
    const mapping = (name: string) => ({ provider_group: name, group: "backend" })
    const mappings = ["one", "two", "three"].map(mapping)
    await ada.call("PUT", `${api}/group-mappings`, { mappings })
    await open(`/${org}/-/groups`)
    await visit.page.getByRole("row", { name: /^two backend/ }).waitFor()
    await ada.call("PUT", `${api}/group-mappings`, { mappings: mappings.slice(1) })
    await visit.press("Remove two as backend")
    await visit.confirm("Remove the mapping")
    await visit.page.getByRole("row", { name: /^two backend/ }).waitFor({ state: "detached" })
    assert.deepStrictEqual((await ada.call("GET", `${api}/group-mappings`)).data, [mapping("three")])
  })

  it("a service account whose rule failed gets the rule, and its key is shown", async () => {
    await open(`/${org}/-/accounts`)
    await visit.press("New service account")
    await dialog().getByLabel("Name").fill("runner")
    await dialog().getByLabel("It signs in").selectOption("with a key")
    await visit.page.route(`**${api}/acl`, (route) =>
      route.request().method() === "POST" ? route.abort() : route.fallback()
    )
    await dialog().getByRole("button", { name: "Create" }).click()
    await visit.sees("runner exists, without a rule that lets it read.")
    await visit.page.unroute(`**${api}/acl`)
    await dialog().getByRole("button", { name: "Create" }).click()
    await visit.sees("This is the only time that the key is shown.")
    const { data } = await ada.call("GET", `${api}/acl`)
    assert.deepInclude(
      data.find(({ name }: Json) => name === "runner"),
      { permission: "read", project_pattern: "after", env_pattern: "dev" }
    )
    await visit.leaveKey()
  })

  it("the way out of a protection is offered though it could not be read", async () => {
    await open(`/${org}/webshop/-/settings`)
    await visit.press("Delete the environment prod")
    await visit.fill(/^Type/, "prod")
    await visit.page.route("**/protection", (route) => route.abort())
    await dialog().getByRole("button", { name: "Delete" }).click()
    await dialog().getByRole("button", { name: "Break glass…" }).click()
    await expect.poll(() => visit.page.evaluate("document.activeElement.labels?.[0].textContent")).toBe("Reason")
    await visit.page.unroute("**/protection")
    await dialog().getByRole("button", { name: "Back" }).click()
    await dialog().getByRole("button", { name: "Cancel" }).click()
    await visit.sees("Nothing was changed or requested")
    await visit.page.keyboard.press("Escape")
  })

  it("a tab of a person ends when another person has logged in by another tab", async () => {
    await open(`/${org}/webshop`)
    await cellOf(visit, "API_KEY", "dev").click()
    const { url } = inject("server")
    await visit.context.addCookies([{ name: "coffer", value: bob.token, url, httpOnly: true, sameSite: "Strict" }])
    const tab = await visit.context.newPage()
    await tab.goto(`${url}/${org}`)
    await tab.getByLabel(`Account of ${of("bob")}`).waitFor()
    await visit.page.getByLabel(`Account of ${of("bob")}`).waitFor({ timeout: 5_000 })
    await tab.close()
  })
})
