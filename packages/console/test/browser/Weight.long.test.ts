import { assert, beforeAll, describe, inject, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { pages } from "../../src/pages/Pages.js"
import { kibOf } from "../support/BuiltScripts.js"
import { Person } from "../support/Person.js"
import { browser, hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`

/** The most requests of the first load of a page, with all that it shows. */
const maxRequests = 20

/** The most that the scripts of the first load of a page take as they are sent, in KiB. */
const maxKib = 130

/** Whether the requests are shown. */
const isShown = process.env["COFFER_SHOW_WEIGHT"] !== undefined

const org = "weights"

const ofSuperadmins: ReadonlySet<string> = new Set(
  pages.server.flatMap(({ need, page }) => (need === "superadmin" ? [`/-/${page}`] : []))
)

/** The address of each page of the console, by the place that it is of. */
const bases = { server: "", org: `/${org}`, project: `/${org}/webshop`, secret: `/${org}/webshop/API_KEY` }

const addresses = Object.entries(bases).flatMap(([at, base]) =>
  Object.entries(pages).flatMap(([place, rows]) =>
    place === at ? rows.map(({ page }) => (page === "" ? base || "/" : `${base}/-/${page}`)) : []
  )
)

describe.skipIf(!hasBrowser())(`the first load of a page${why}`, () => {
  let root: Person
  let owner: Person

  beforeAll(async () => {
    root = await Person.login("root-of-weights@example.com")
    owner = await Person.login("weigher@example.com")
    await owner.organization(org, { dev: { API_KEY: "1" }, prod: { API_KEY: "2" } })
    const api = `/api/orgs/${org}`
    await owner.call("POST", `${api}/groups`, { name: "backend" })
    await owner.call("POST", `${api}/members`, { email: "weighed@example.com" })
    await owner.call("POST", `${api}/service-accounts`, { name: "deploy", project: "webshop" })
    await owner.call("PUT", `${api}/projects/webshop/declared/API_KEY`, { required_in: ["dev"] })
  })

  it("walks every page", () => {
    assert.includeMembers(addresses, ["/", "/-/users", `/${org}/-/audit`, `/${org}/webshop`, `/${org}/webshop/API_KEY`])
    assert.isAtLeast(addresses.length, 19)
  })

  /** Loads a page with an empty cache, and fails if that takes more than it may. */
  const load = async ({ token }: Person, address: string): Promise<ReadonlyArray<string>> => {
    const { url } = inject("server")
    const context = await (await browser()).newContext()
    await context.addCookies([{ name: "coffer", value: token, url, httpOnly: true, sameSite: "Strict" }])
    const page = await context.newPage()
    const sent: Array<string> = []
    page.on("request", (request) => {
      if (!request.url().startsWith("data:")) sent.push(request.url().slice(url.length))
    })
    await page.goto(url + address, { waitUntil: "networkidle" })
    await page.locator("#page h1").first().waitFor()
    await context.close()
    const kib = kibOf(sent.filter((path) => path.endsWith(".js")))
    if (isShown)
      console.log(`${address}: ${sent.length} requests, ${kib.toFixed(1)} KiB of scripts\n${sent.join("\n")}`)
    assert.isAtMost(sent.length, maxRequests, `${address} requests\n${sent.join("\n")}`)
    assert.isAtMost(kib, maxKib, `the scripts of ${address}`)
    return sent
  }

  it.each(addresses)("of %s takes few requests and small scripts", async (address) => {
    // A superadmin's first page has the organizations of all other tests.
    await load(ofSuperadmins.has(address) ? root : owner, address)
  })

  it("takes few requests for a person of 10 organizations, and names what waits in each", async () => {
    const many = await Person.login("of-many-organizations@example.com")
    const names = Array.from({ length: 10 }, (_, index) => `weighs-${index}`)
    for (const name of names) await many.organization(name, { dev: { API_KEY: "1" } })
    const key = "/api/orgs/weighs-9/projects/webshop/envs/dev/secrets/API_KEY"
    await many.call("PATCH", key, { expires_at: "2020-01-01" })
    const sent = await load(many, "/")
    assert.strictEqual(sent.filter((path) => path.includes("/overview?")).length, names.length)
    const visit = await Visit.open("/", many)
    await visit.page.getByRole("row", { name: /API_KEY weighs-9\/webshop\/dev overdue/ }).waitFor()
    await visit.close()
  })
})
