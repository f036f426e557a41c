import { afterAll, assert, beforeAll, describe, inject, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { TestHome } from "../../../cli/test/support/Programs.js"
import { codeFor, Person } from "../support/Person.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`

describe.skipIf(!hasBrowser())(`delegations in the console${why}`, () => {
  let visit: Visit
  let home: TestHome

  beforeAll(async () => {
    const ada = await Person.login("delegates@example.com")
    await ada.organization("delegating", { dev: { API_KEY: "canary-51c7", OTHER: "canary-88e0" } })
    await ada.call("POST", "/api/orgs/delegating/members", { email: "delegates-not@example.com", role: "member" })
    home = new TestHome(inject("server").url)
    visit = await Visit.open("/-/account", ada)
  })
  afterAll(async () => {
    home.remove()
    await visit.close()
  })

  it("one is made after a recent login, used by a program, seen in use and revoked", async () => {
    const dialog = visit.page.locator("dialog")
    const address = "**/api/auth/delegations"
    await visit.page.route(address, (route) =>
      route.request().method() === "POST"
        ? route.fulfill({
            status: 403,
            json: { error: { code: "REAUTHENTICATE", message: "log in again to do this" } }
          })
        : route.fallback()
    )
    await visit.sees("There are none.")
    await visit.press("New delegation")
    await dialog.getByLabel("Also in").fill("nowhere")
    await visit.sees("webshop has no other environment nowhere.")
    await dialog.getByLabel("Also in").fill("staging")
    await dialog.getByLabel("Only these keys").fill("API_KEY, not a/key")
    await visit.sees("a/key: a secret key has 1 to 100 characters")
    const delegate = dialog.getByRole("button", { name: "Delegate", exact: true })
    assert.isTrue(await delegate.isDisabled())
    await visit.isAccessible("a delegation with a mistake")
    await dialog.getByLabel("For", { exact: true }).fill("claude")
    await dialog.getByLabel("Only these keys").fill("API_KEY")
    await dialog.getByLabel("For how long").selectOption("1 hour")
    await delegate.click()
    await visit.press("Send a code to delegates@example.com")
    await visit.fill(/^Code from the mail/, await codeFor("delegates@example.com", 1))
    // Not while a request is in flight: it could be lost with the route.
    await visit.page.unroute(address)
    await visit.press("Log in")
    await visit.sees("This is the only time that the token is shown.")
    const token = await dialog.getByLabel("The token of claude").innerText()
    const line = await dialog.locator("pre").innerText()
    await visit.isAccessible("the token of a delegation")
    await visit.leaveKey()
    await visit.sees(/in (59|60) minutes/)
    assert.notInclude(await visit.page.content(), token)

    const stored = await home.shell(`printf %s "$TOKEN" | ${line.replace("coffer", "$COFFER")}`, {
      env: { TOKEN: token }
    })
    assert.strictEqual(stored.code, 0, stored.stderr)
    const run = () =>
      home.coffer(["run", "--non-interactive", "delegating/webshop/dev", "--", "sh", "-c", 'printf "$API_KEY$OTHER"'])
    assert.deepInclude(await run(), { code: 0, stdout: "canary-51c7" })
    await visit.page.reload()
    const row = visit.page.getByRole("table", { name: "Delegations" }).getByRole("row").filter({ hasText: "claude" })
    await row.getByText("read; API_KEY").waitFor()
    await row.getByText("delegating/webshop/dev, delegating/webshop/staging").waitFor()
    await row.getByText("just now").waitFor()
    await visit.isAccessible("a delegation in the list")
    await visit.press("Revoke the delegation to claude")
    await visit.confirm("Revoke")
    await visit.sees("There are none.")
    const { code, stderr } = await run()
    assert.notStrictEqual(code, 0)
    assert.match(stderr, /this delegation is unknown, has ended or was revoked/)
  }, 120_000)

  it("a new one offers what the person has, and makes no call that the server refuses and records", async () => {
    const person = await Person.login("delegates-not@example.com")
    const other = await Visit.open("/-/account", person)
    await other.press("New delegation")
    await other.sees("You have no permission in dev that you could delegate.")
    await other.isAccessible("nothing to delegate")
    await other.close()
  }, 120_000)
})
