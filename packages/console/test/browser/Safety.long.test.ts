import { afterAll, assert, beforeAll, describe, inject, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { codeFor, Person } from "../support/Person.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`
const canary = "canary-52e7d1c0"

/** Everything of a page that outlives a value that is hidden. */
const traces = (visit: Visit): Promise<string> =>
  visit.page.evaluate(
    `JSON.stringify([{...localStorage}, {...sessionStorage}, history.state, location.href, document.title]) +
      document.documentElement.outerHTML + [...document.querySelectorAll("input,textarea")].map((one) => one.value)`
  )

describe.skipIf(!hasBrowser())(`the console keeps what is staged, and no value${why}`, () => {
  let ada: Person
  let visit: Visit

  const cell = (key: string, env: string) =>
    visit.page.getByRole("gridcell", { name: new RegExp(`^${key} in ${env}: `) })
  const panel = () => visit.page.locator(".matrix-panel")
  const hidden = (isHidden: boolean) =>
    visit.page.evaluate(
      `Object.defineProperty(document, "hidden", { value: ${isHidden}, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"))`
    )

  beforeAll(async () => {
    ada = await Person.login("safety@example.com")
    await ada.organization("safety", {
      dev: { DATABASE_URL: canary, API_KEY: canary },
      staging: { DATABASE_URL: canary },
      prod: { DATABASE_URL: `${canary}-prod`, API_KEY: canary }
    })
    visit = await Visit.open("/safety/webshop", ada)
    await visit.page.clock.install()
    await visit.page.reload()
  })
  afterAll(async () => {
    assert.notInclude(await traces(visit), canary)
    await visit.close()
  })

  it("speaks of each cell to those who do not see it: a grid with heads of rows and columns", async () => {
    await cell("DATABASE_URL", "prod").waitFor()
    const tree = await visit.page.getByRole("grid").ariaSnapshot()
    for (const line of [
      /columnheader "dev"/,
      /columnheader "prod"/,
      /rowheader "DATABASE_URL"/,
      /gridcell "DATABASE_URL in staging: version 1"/,
      /gridcell "DATABASE_URL in prod: version 1"/,
      /gridcell "API_KEY in staging: missing"/
    ]) {
      assert.match(tree, line)
    }
    assert.notInclude(tree, "••")
  })

  it("answers 304 for a matrix that has not changed", async () => {
    const address = `${inject("server").url}/api/orgs/safety/projects/webshop/matrix`
    const headers = { cookie: `coffer=${ada.token}`, "x-coffer": "1", origin: inject("server").url }
    const etag = (await fetch(address, { headers })).headers.get("etag") ?? assert.fail("there is no ETag")
    assert.strictEqual((await fetch(address, { headers: { ...headers, "if-none-match": etag } })).status, 304)
  })

  it("hides a value after 30 seconds, and when the page is hidden", async () => {
    await cell("DATABASE_URL", "dev").click()
    for (const hide of [() => visit.page.clock.fastForward(30_100), () => hidden(true)]) {
      await visit.press("Reveal")
      await visit.sees(canary)
      await hide()
      await visit.page.getByText(canary).waitFor({ state: "detached" })
      assert.notInclude(await traces(visit), canary)
      await hidden(false)
    }
  })

  it("copies a value without showing it", async () => {
    await visit.page.evaluate(
      `Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => { window.copied = text } }, configurable: true })`
    )
    await panel().getByRole("button", { name: "Copy" }).click()
    await panel().getByRole("button", { name: "Copied" }).waitFor()
    assert.strictEqual(await visit.page.evaluate("window.copied"), canary)
    assert.notInclude(await traces(visit), canary)
    await visit.page.evaluate("delete window.copied")
    await visit.page.keyboard.press("Escape")
  })

  it("stages a file dropped on the page", async () => {
    await visit.page.evaluate(`{
      const data = new DataTransfer()
      data.items.add(new File(["DROPPED=from-a-file\\n"], "dropped.env"))
      document.querySelector("section.matrix").dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }))
    }`)
    await visit.press(/^Stage 1 for/)
    await visit.sees("1 change staged")
    await visit.page.keyboard.press("Control+k")
    await visit.page.getByRole("combobox", { name: "A place, a key or an action" }).fill("dropped")
    await visit.page.getByRole("option", { name: /DROPPED.*staged in/ }).waitFor()
    await visit.page.keyboard.press("Escape")
  })

  it("says that the connection is lost, and goes on with what is staged", async () => {
    await visit.context.setOffline(true)
    await visit.sees("The connection to the server is lost")
    await visit.sees("1 change staged")
    await visit.context.setOffline(false)
    await visit.page.clock.runFor(4_000)
    await visit.page.getByText("The connection to the server is lost").waitFor({ state: "detached" })
    await visit.sees("1 change staged")
  })

  it("says that the server has a newer console, and keeps what is staged", async () => {
    const { url } = inject("server")
    await Promise.all([visit.page.waitForResponse(`${url}/`), hidden(false)])
    assert.strictEqual(await visit.page.getByText("newer console").count(), 0)
    await visit.page.route(`${url}/`, (route) =>
      route.fulfill({
        contentType: "text/html",
        body: '<script type="module" src="/-/assets/index-other.js"></script>'
      })
    )
    await hidden(false)
    await visit.sees("The server has a newer console.")
    await visit.page.unroute(`${url}/`)
    await visit.press("Review and write")
    await visit.press(/^Write to/)
    await visit.sees("Written to")
  })

  it("asks for a recent login before it destroys a version, and then does it", async () => {
    const path = "/api/orgs/safety/projects/webshop/envs/dev/secrets/DATABASE_URL"
    await ada.call("PUT", path, { value: `${canary}-2` })
    await visit.page.goto(`${inject("server").url}/safety/webshop/DATABASE_URL?env=dev`)
    await visit.page.route("**/destroy", (route) =>
      route.fulfill({ status: 403, json: { error: { code: "REAUTHENTICATE", message: "log in again to do this" } } })
    )
    await visit.press("Destroy")
    await visit.fill(/^Type/, "DATABASE_URL")
    await visit.page.locator("dialog").getByRole("button", { name: "Destroy" }).click()
    await visit.press("Send a code to safety@example.com")
    await visit.fill(/^Code from the mail/, await codeFor("safety@example.com", 1))
    // Not while a request is in flight: it could be lost with the route.
    await visit.page.unroute("**/destroy")
    await visit.press("Log in")
    await visit.sees("destroyed")
    const { data } = await ada.call("GET", `${path}/versions`)
    assert.deepInclude(data[1], { version: 1, destroyed: true })
  })
})
