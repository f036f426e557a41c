import { assert, beforeAll, describe, inject, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { pages } from "../../src/pages/Pages.js"
import { type Json, Person } from "../support/Person.js"
import { browser, hasBrowser } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`

const org = "zooms"

/** The address of each page of the console, by the place that it is of. */
const bases = { server: "", org: `/${org}`, project: `/${org}/webshop`, secret: `/${org}/webshop/API_KEY` }

const addresses = Object.entries(bases).flatMap(([at, base]) =>
  Object.entries(pages).flatMap(([place, rows]) =>
    place === at ? rows.map(({ page }) => (page === "" ? base || "/" : `${base}/-/${page}`)) : []
  )
)

/** Elements beyond the right edge of the window, without those that scroll sideways by themselves. */
const beyond = `{
  const scrolls = (one) => one.closest(".matrix-scroller, .tabs, pre, .scroll-x") !== null
  const seen = [...document.querySelectorAll("#console :is(a, button, h1, h2, h3, input, select, textarea, th, td, p, time)")]
  const wide = seen.filter((one) => !scrolls(one) && one.checkVisibility({ visibilityProperty: true })
    && one.getBoundingClientRect().right > innerWidth + 1 && one.getBoundingClientRect().width > 1)
  ;[
    ...wide.map((one) => one.tagName + " " + one.textContent.slice(0, 60)),
    ...[...document.querySelectorAll(".scroll")].filter((one) => one.scrollWidth > one.clientWidth + 1).map(() => "a table"),
    ...(document.documentElement.scrollWidth > document.documentElement.clientWidth ? ["the page"] : [])
  ]
}`

describe.skipIf(!hasBrowser())(`a zoom of 200 %${why}`, { timeout: 240_000 }, () => {
  let people: { readonly ada: Person; readonly root: Person }

  beforeAll(async () => {
    const [ada, root] = [await Person.login("zooms@example.com"), await Person.login("root-of-weights@example.com")]
    const long = "A_KEY_WITH_A_RATHER_LONG_NAME_OF_SEVERAL_WORDS"
    await ada.organization(org, { dev: { API_KEY: "1", [long]: "2" }, prod: { API_KEY: "3", ONLY_PROD: "1" } })
    const api = `/api/orgs/${org}`
    const far = "a-person-with-a-rather-long-address@a-subdomain.example.com"
    await ada.call("POST", `${api}/members`, { email: far, role: "developer" })
    await ada.call("POST", `${api}/groups`, { name: "backend" })
    await ada.call("POST", `${api}/groups/backend/members`, { email: far })
    const rule = { subject_type: "user", email: far, project_pattern: "webshop", env_pattern: "{dev,staging}" }
    await ada.call("POST", `${api}/acl`, { ...rule, permission: "write", expires_at: "2034-01-01T00:00:00.000Z" })
    await ada.call("POST", `${api}/service-accounts`, { name: "deploy", project: "webshop" })
    await ada.call("POST", `${api}/webhooks`, { url: "https://127.0.0.1:9/a/long/path/of/hooks", events: ["secret.*"] })
    const secret = `${api}/projects/webshop/envs/prod/secrets/API_KEY`
    await ada.call("PATCH", secret, { expires_at: "2020-01-31", owner: far })
    await ada.call("PUT", `${api}/projects/webshop/envs/prod/protection`, {
      needed: 1,
      approvers: "admins",
      self: true
    })
    await ada.call("PUT", secret, { value: "4" }, { prefer: "respond-async" })
    people = { ada, root }
  }, 120_000)

  // A window of 1280 × 800, whose pixels are twice as large.
  it.each([
    ["1280 × 800", 640, 400],
    ["1440 × 900", 720, 450]
  ] as const)("cuts nothing of any page in a window of %s", async (_, width, height) => {
    const { url } = inject("server")
    const found: Record<string, Json> = {}
    for (const [who, mine] of [
      [people.ada, addresses.filter((address) => !/^\/-\/(?:users|server|backups)$/.test(address))],
      [people.root, ["/-/users", "/-/server", "/-/backups"]]
    ] as const) {
      const context = await (await browser()).newContext({ viewport: { width, height }, deviceScaleFactor: 2 })
      await context.addCookies([{ name: "coffer", value: who.token, url, httpOnly: true, sameSite: "Strict" }])
      const page = await context.newPage()
      for (const address of mine) {
        await page.goto(url + address, { waitUntil: "networkidle" })
        await page.locator("#page h1").first().waitFor()
        const cut: Json = await page.evaluate(beyond)
        if (cut.length > 0) found[address] = cut
      }
      await context.close()
    }
    assert.deepStrictEqual(found, {})
  })
})
