import type { Page } from "playwright-core"
import { assert, beforeAll, describe, inject, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { Person } from "../support/Person.js"
import { browser, hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`

const org = "early-matrix"

/** A page whose scripts wait, but for the first one, until they are let go. */
const open = async (person: Person, path: string, width = 1280) => {
  const { url } = inject("server")
  const context = await (await browser()).newContext({ viewport: { width, height: 800 } })
  await context.addCookies([{ name: "coffer", value: person.token, url, httpOnly: true, sameSite: "Strict" }])
  const page = await context.newPage()
  const problems: Array<string> = []
  page.on("pageerror", ({ message }) => problems.push(message))
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().startsWith("Failed to load")) problems.push(message.text())
  })
  const sent: Array<string> = []
  page.on("request", (request) => sent.push(request.url().slice(url.length)))
  let letGo = () => {}
  const gate = new Promise<void>((resolve) => (letGo = resolve))
  await page.route(/\/index-[^/]+\.js$/, async (route) => {
    await gate
    await route.continue()
  })
  // The load event waits for the scripts.
  await page.goto(url + path, { waitUntil: "commit" })
  return { close: () => context.close(), letGo, page, problems, sent }
}

/** Where parts of the matrix are, by what they say: of the page, or of what is drawn before it. */
const boxesIn = (page: Page, root: string): Promise<Readonly<Record<string, ReadonlyArray<number>>>> =>
  page.evaluate(`{
    const boxes = {}
    for (const one of document.querySelectorAll("${root} :is(.matrix-cell, .matrix-key, .matrix-env)")) {
      const { height, left, top, width } = one.getBoundingClientRect()
      const shown = one.querySelector(".matrix-shown, .key, .matrix-name") ?? one
      boxes[shown.textContent.trim() + " " + [left, top].map(Math.round)] = [width, height].map(Math.round)
    }
    boxes
  }`)

describe.skipIf(!hasBrowser())(`a page before its scripts have come${why}`, () => {
  let owner: Person

  beforeAll(async () => {
    owner = await Person.login("early-bird@example.com")
    const values = { API_KEY: "1", AWS_ID: "1", AWS_KEY: "2", AWS_REGION: "3", DB_URL: "x" }
    await owner.organization(org, { dev: values, prod: { ...values, ONLY_PROD: "1" } })
  })

  it.each([390, 1280])("shows the matrix where the page will show it, at %i px", async (width) => {
    const { close, letGo, page, problems, sent } = await open(owner, `/${org}/webshop`, width)
    await page.locator(".early [role=gridcell]").first().waitFor()
    assert.strictEqual(await page.locator("#console").evaluate((root) => root.childElementCount), 0)
    const early = await boxesIn(page, ".early")
    assert.include(Object.keys(early).join("\n"), "missing")
    assert.include(Object.keys(early).join("\n"), "••••••= devv1 · today")

    letGo()
    await page.locator("#console [role=gridcell]").first().waitFor()
    await page.locator(".early").waitFor({ state: "detached" })
    await page.evaluate("document.fonts.ready")
    const shown = await boxesIn(page, "#console")
    for (const [name, box] of Object.entries(early))
      if (!name.startsWith("Key ")) assert.deepEqual(shown[name], box, name)

    await page.waitForLoadState("networkidle")
    const reads = sent.filter((path) => path.startsWith("/api/"))
    assert.deepStrictEqual([...new Set(reads)], reads, "no read is sent twice")
    assert.deepStrictEqual(problems, [])
    await close()
  })

  it("shows nothing early that the address or the person's rights change", async () => {
    const stranger = await Person.login("early-stranger@example.com")
    for (const [person, path] of [
      [owner, `/${org}/webshop?show=missing`],
      [stranger, `/${org}/webshop`]
    ] as const) {
      const { close, letGo, page } = await open(person, path)
      const read = page.waitForResponse(/\/matrix\?/)
      await read
      letGo()
      await page.locator("#page > *").first().waitFor()
      assert.strictEqual(await page.locator(".early").count(), 0)
      await close()
    }
  })

  it("accepts no invitation, and the person can still decline", async () => {
    const guest = await Person.login("early-guest@example.com")
    await owner.call("POST", `/api/orgs/${org}/members`, { email: "early-guest@example.com" })
    const visit = await Visit.open(`/${org}/webshop`, guest, { accepts: false })
    await visit.page.getByRole("button", { name: "Decline" }).waitFor()
    const { data } = await owner.call("GET", `/api/orgs/${org}/members`)
    const [listed] = data.filter(({ email }: { readonly email: string }) => email === "early-guest@example.com")
    assert.isFalse(listed.accepted)
    await visit.press("Accept")
    await visit.page.getByText("You have no access to webshop yet").waitFor()
    await visit.close()
  })

  it("has the colours that the person chose, before anything is drawn", async () => {
    const { close, letGo, page } = await open(owner, `/${org}/webshop`)
    await page.addInitScript(`localStorage.setItem("coffer-theme", "dark")`)
    await page.reload({ waitUntil: "commit" })
    await page.locator(".early [role=gridcell]").first().waitFor()
    assert.strictEqual(await page.evaluate("document.documentElement.style.colorScheme"), "dark")
    letGo()
    await close()
  })
})
