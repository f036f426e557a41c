import { assert, describe, expect, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { Person } from "../support/Person.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`

const queryOf = (visit: Visit): URLSearchParams => new URL(visit.page.url()).searchParams

describe.skipIf(!hasBrowser())(`the console shows what it leaves out${why}`, { timeout: 120_000 }, () => {
  it("audit: the address has the filters, and a reload and Back keep them", async () => {
    const nia = await Person.login("nia@example.com")
    await nia.organization("filters", { dev: { ALPHA: "one", BETA: "two" } })
    const visit = await Visit.open("/filters/-/audit?action=secret.set&key=ALPHA", nia)
    assert.strictEqual(await visit.page.getByLabel("Key").inputValue(), "ALPHA")
    await visit.sees("1 entry")
    await visit.fill("Key", "BETA")
    await visit.page.keyboard.press("Tab")
    await visit.page.waitForURL("**key=BETA**")
    await visit.page.reload()
    await visit.sees(/set BETA/)
    assert.strictEqual(queryOf(visit).get("action"), "secret.set")
    await visit.press("Clear")
    await visit.page.waitForURL((url) => !url.searchParams.has("key"))
    await visit.close()
  })

  it("matrix: the address has the filter, and opens with it", async () => {
    const nia = await Person.login("nia@example.com")
    const visit = await Visit.open("/filters/webshop?filter=bet", nia)
    await visit.page.getByRole("rowheader", { name: "BETA" }).waitFor()
    assert.strictEqual(await visit.page.getByRole("rowheader", { name: "ALPHA" }).count(), 0)
    await visit.fill("Filter keys", "alph")
    await visit.page.getByRole("rowheader", { name: "ALPHA" }).waitFor()
    assert.strictEqual(queryOf(visit).get("filter"), "alph")
    await visit.close()
  })

  it("webhooks: one whose deliveries fail says so, with the reason and the next try", async () => {
    const nia = await Person.login("nia@example.com")
    await nia.call("POST", "/api/orgs/filters/webhooks", {
      url: "https://127.0.0.1:9/nobody",
      events: ["secret.*"],
      environments: ["webshop/*"]
    })
    await nia.call("PUT", "/api/orgs/filters/projects/webshop/envs/dev/secrets/ALPHA", { value: "three" })
    const visit = await Visit.open("/filters/-/webhooks", nia)
    const row = visit.page.getByRole("row").filter({ hasText: "127.0.0.1:9" })
    await row.getByText("failing").waitFor()
    assert.match((await row.textContent()) ?? "", /failing since \d\d:\d\d UTC · \w+ · next try \d\d:\d\d UTC/)
    await visit.isAccessible("a failing webhook")
    await visit.close()
  })

  it("home: a webhook that fails is named with a link to those who may see webhooks, and to no others", async () => {
    const [rosa, sami] = [await Person.login("rosa@example.com"), await Person.login("sami@example.com")]
    await rosa.organization("fails")
    await rosa.call("POST", "/api/orgs/fails/members", { email: "sami@example.com", role: "developer" })
    await sami.accept()
    await rosa.call("POST", "/api/orgs/fails/webhooks", { url: "https://127.0.0.1:9/nobody", events: ["secret.*"] })
    const link = (visit: Visit) => visit.page.getByRole("link", { name: "webhook fails in fails" })
    const visit = await Visit.open("/", rosa)
    await visit.sees("No secret that you may see is overdue")
    assert.strictEqual(await link(visit).count(), 0, "nothing was sent yet")

    await rosa.call("PUT", "/api/orgs/fails/projects/webshop/envs/dev/secrets/ALPHA", { value: "one" })
    await expect
      .poll(async () => (await rosa.call("GET", "/api/orgs/fails/overview")).failing_webhooks, { timeout: 30_000 })
      .toBe(1)
    await visit.page.reload()
    await link(visit).waitFor()
    await visit.isAccessible("home with a webhook that fails")
    await visit.page.goto(new URL("/fails", visit.page.url()).href)
    await link(visit).press("Enter")
    await visit.page.getByRole("row", { name: /127.0.0.1:9.*failing/ }).waitFor()
    await visit.close()

    assert.notProperty(await sami.call("GET", "/api/orgs/fails/overview"), "failing_webhooks")
    const other = await Visit.open("/", sami)
    await other.page.getByRole("row", { name: /fails developer 1/ }).waitFor()
    await other.sees("No secret that you may see is overdue")
    assert.strictEqual(await link(other).count(), 0)
    await other.close()
  })

  it("organizations: those beyond the tenth are named as not regarded, and not searched for keys", async () => {
    const ola = await Person.login("ola@example.com")
    for (let number = 1; number <= 14; number++) await ola.call("POST", "/api/orgs", { name: `many-${number}` })
    const visit = await Visit.open("/", ola)
    await visit.sees(/for the first 10 organizations. 4 more are not regarded here/)
    await visit.page.keyboard.press("Control+k")
    await visit.page.getByRole("combobox", { name: "A place, a key or an action" }).waitFor()
    await visit.page.keyboard.type("nothing-has-this")
    await visit.sees("6 more organizations were not searched for keys and people.")
    await visit.close()
  })

  it("server: how much is on it, and how many people", async () => {
    const visit = await Visit.open("/-/server", await Person.root())
    await visit.sees(/^[0-9.]+ [KM]iB, [0-9,]+ organizations?$/)
    await visit.sees(/^[0-9,]+, of whom [0-9,]+ (is a superadmin|are superadmins)/)
    await visit.isAccessible("server")
    await visit.close()
  })

  it("matrix: environments for which it has no column are named", async () => {
    const wes = await Person.login("wes@example.com")
    await wes.organization("wide", { dev: { A: "1" } })
    for (let number = 1; number <= 22; number++) {
      await wes.call("POST", "/api/orgs/wide/projects/webshop/envs", {
        name: `stage-${String(number).padStart(2, "0")}`
      })
    }
    const visit = await Visit.open("/wide/webshop", wes)
    await visit.sees(/1 more environment is not in this matrix: /)
    await visit.isAccessible("a matrix of 24 environments")
    await visit.close()
  })

  it("settings: an environment on which nobody can vote says so to its owner, with what helps", async () => {
    const [pia, quin] = [await Person.login("pia@example.com"), await Person.login("quin@example.com")]
    await pia.organization("stuck")
    await pia.call("POST", "/api/orgs/stuck/members", { email: "quin@example.com", role: "admin" })
    await quin.accept()
    const terms = { needed: 1, approvers: ["quin@example.com"] }
    await pia.call("PUT", "/api/orgs/stuck/projects/webshop/envs/prod/protection", terms)
    const visit = await Visit.open("/stuck/webshop/-/settings", pia)
    const note = visit.page.getByText("Nobody could vote on its changes: open its protection.")
    await visit.page
      .getByRole("menuitem", { name: "Protection of the environment prod", includeHidden: true })
      .waitFor({ state: "attached" })
    assert.strictEqual(await note.count(), 0)
    const root = await Person.root()
    const { data } = await root.call("GET", "/api/users?email=quin@example.com")
    await root.call("POST", `/api/users/${data[0].id}/disable`)
    await visit.page.reload()
    await note.waitFor()
    await visit.press("Protection of the environment prod")
    await visit.sees("Nobody could give its votes as things are.")
    await visit.close()
  })
})
