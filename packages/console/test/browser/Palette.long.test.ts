import { assert, describe, inject, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { Person } from "../support/Person.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`

describe.skipIf(!hasBrowser())(`the palette${why}`, { timeout: 60_000 }, () => {
  it("gets what is typed before its script is loaded, and the page beneath does not", async () => {
    const ada = await Person.login("early@example.com")
    await ada.organization("early", { dev: { STRIPE_KEY: "1" } })
    const visit = await Visit.open("/-/account", ada)
    await visit.page.route("**/palette-*.js", async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 2_000))
      await route.continue()
    })
    await visit.page.goto(`${new URL(visit.page.url()).origin}/early/webshop`)
    await visit.page.getByRole("grid").focus()
    await visit.page.keyboard.press("Control+k")
    await visit.page.keyboard.type("?strx")
    await visit.page.keyboard.press("Backspace")
    await visit.page.keyboard.press("Home")
    await visit.page.keyboard.press("Enter")
    await visit.page.getByRole("combobox", { name: "A place, a key or an action" }).waitFor()
    await visit.page.getByText("Nothing that you may see has this name").waitFor()
    await visit.page.keyboard.press("Home")
    await visit.page.keyboard.press("Delete")
    await visit.page.getByRole("option", { name: "STRIPE_KEY key of webshop" }).waitFor()
    await visit.close()
  })

  it("searches again for keys where the server could not", async () => {
    const ada = await Person.login("again@example.com")
    await ada.organization("again", { dev: { STRIPE_KEY: "1" } })
    const visit = await Visit.open("/again", ada)
    await visit.sees("Projects of again")
    let refusals = 0
    await visit.page.route("**/keys?*", (route) =>
      ++refusals <= 3
        ? route.fulfill({ status: 503, json: { error: { code: "OVERLOADED", message: "try again" } } })
        : route.continue()
    )
    await visit.page.keyboard.press("Control+k")
    await visit.page.getByRole("combobox", { name: "A place, a key or an action" }).fill("stripe")
    await visit.sees("The keys of again could not be searched yet")
    await visit.page.getByRole("option", { name: "STRIPE_KEY key of webshop" }).waitFor()
    await visit.page.getByText("could not be searched").waitFor({ state: "detached" })
    await visit.close()
  })

  it("finds people, groups, accounts, environments and keys of all organizations, and the last places first", async () => {
    const ada = await Person.login("finds@example.com")
    const names = Array.from({ length: 10 }, (_, index) => `finds-${index}`)
    for (const name of names) await ada.organization(name, name === "finds-9" ? { dev: { FAR_KEY: "1" } } : {})
    const org = "/api/orgs/finds-0"
    await ada.call("POST", `${org}/members`, { email: "grace-hopper@example.com", role: "admin" })
    await ada.call("POST", `${org}/groups`, { name: "gardeners" })
    await ada.call("POST", `${org}/service-accounts`, { name: "gantry" })
    const visit = await Visit.open("/finds-0/-/audit", ada)
    const { page } = visit
    await page.keyboard.press("Control+k")
    await page.getByRole("combobox", { name: "A place, a key or an action" }).waitFor()
    await page.keyboard.press("Escape")
    await page.getByRole("link", { name: "Rules" }).click()
    await page.getByRole("link", { name: "finds-0" }).first().click()
    await page.getByRole("link", { name: "webshop" }).click()
    await visit.sees("webshop has no secrets yet")
    await page.keyboard.press("Control+k")
    const options = page.getByRole("group", { name: "Recent" }).getByRole("option")
    await options.first().waitFor()
    assert.deepStrictEqual(await options.allInnerTexts().then((texts) => texts.map((text) => text.split("\n")[0])), [
      "finds-0 Projects",
      "finds-0 Rules",
      "finds-0 Audit"
    ])
    const field = page.getByRole("combobox", { name: "A place, a key or an action" })
    await field.fill("g")
    for (const [group, name] of [
      ["Members", "grace-hopper@example.com admin of finds-0"],
      ["Groups", "gardeners group of finds-0"],
      ["Service accounts", "gantry service account of finds-0"]
    ] as const) {
      await page.getByRole("group", { name: group }).getByRole("option", { name }).waitFor()
    }
    await visit.isAccessible("palette with groups")
    await field.fill("staging")
    await page.getByRole("option", { name: "staging environment of webshop" }).waitFor()
    await field.fill("far_k")
    await visit.sees("2 more organizations were not searched for keys and people.")
    await page.getByRole("button", { name: "Search them too" }).click()
    await page.getByRole("option", { name: "FAR_KEY key of finds-9/webshop" }).waitFor()
    assert.strictEqual(await page.locator(".palette mark").innerText(), "FAR_K")
    await visit.close()
  })

  it("finds people of organizations that are not open, and accepts no invitation by it", async () => {
    const ada = await Person.login("roams@example.com")
    const stranger = await Person.login("roams-stranger@example.com")
    for (const name of ["roams-here", "roams-there"]) await ada.organization(name)
    await stranger.organization("roams-alien")
    await ada.call("POST", "/api/orgs/roams-there/members", { email: "barbara@example.com", role: "developer" })
    await ada.call("POST", "/api/orgs/roams-there/groups", { name: "bakers" })
    await stranger.call("POST", "/api/orgs/roams-alien/members", { email: "roams@example.com", role: "admin" })
    const visit = await Visit.open("/roams-here", ada, { accepts: false })
    const { page } = visit
    await page.keyboard.press("Control+k")
    await page.getByRole("combobox", { name: "A place, a key or an action" }).fill("ba")
    await page.getByRole("option", { name: "bakers group of roams-there" }).waitFor()
    assert.strictEqual(await page.getByText("not searched").count(), 0)
    await page.getByRole("option", { name: "barbara@example.com developer of roams-there" }).click()
    await page.waitForURL(/roams-there\/-\/members\?member=/)
    const { data } = await ada.call("GET", "/api/orgs")
    const [alien] = data.filter(({ name }: { readonly name: string }) => name === "roams-alien")
    assert.isFalse(alien.accepted)
    await visit.close()
  })

  it("keeps the last places over a reload, for the same person alone", async () => {
    const [ada, bob] = [await Person.login("keeps@example.com"), await Person.login("keeps-bob@example.com")]
    await ada.organization("keeps", { dev: { STRIPE_KEY: "1" } })
    await bob.organization("keeps-bob")
    const visit = await Visit.open("/keeps/-/rules?q=typed-by-ada", ada)
    const { page } = visit
    const recent = async () => {
      await page.keyboard.press("Control+k")
      await page.getByRole("combobox", { name: "A place, a key or an action" }).waitFor()
      const texts = await page.getByRole("group", { name: "Recent" }).getByRole("option").allInnerTexts()
      await page.keyboard.press("Escape")
      return texts.map((text) => text.split("\n")[0])
    }
    await page.getByRole("heading", { name: "Access rules" }).waitFor()
    await page.getByRole("link", { name: "Audit" }).click()
    await page.getByRole("heading", { name: "Audit" }).waitFor()
    await page.goto(`${inject("server").url}/keeps/webshop/STRIPE_KEY?env=dev`)
    await page.getByRole("heading", { name: "STRIPE_KEY" }).waitFor()
    await page.reload()
    await page.getByRole("heading", { name: "STRIPE_KEY" }).waitFor()
    assert.deepStrictEqual(await recent(), ["keeps Audit", "keeps Rules"])
    assert.notInclude(await page.evaluate<string>("JSON.stringify({ ...sessionStorage, ...localStorage })"), "typed-by")

    const { url } = inject("server")
    await visit.context.addCookies([{ name: "coffer", value: bob.token, url, httpOnly: true, sameSite: "Strict" }])
    await page.goto(`${url}/keeps-bob`)
    await visit.sees("Projects of keeps-bob")
    assert.deepStrictEqual(await recent(), [])
    await page.getByRole("button", { name: "Account of keeps-bob@example.com" }).click()
    await page.getByRole("menuitem", { name: "Log out" }).click()
    await page.waitForURL("**/login")
    assert.strictEqual(await page.evaluate("sessionStorage.length"), 0)
    await visit.close()
  })
})
