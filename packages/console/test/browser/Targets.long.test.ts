import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { KvServer, token } from "../../../server/test/delivery/KvServer.js"
import { Person } from "../support/Person.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`

const canary = "sk_live_Canary8_0123456789"

describe.skipIf(!hasBrowser())(`the targets of an environment${why}`, { timeout: 120_000 }, () => {
  let kv: KvServer
  let ada: Person
  beforeAll(async () => {
    kv = await KvServer.start()
    ada = await Person.login("pushes@example.com")
    await ada.organization("pushes", { dev: { KEY: "1" }, prod: { VAULT_TOKEN: token, STRIPE_KEY: canary } })
  })
  afterAll(() => kv.stop())

  it("are created, pushed by a plan without values, checked, paused and deleted", async () => {
    const visit = await Visit.open("/pushes/webshop/-/targets?env=prod", ada)
    const { page } = visit
    const dialog = page.locator("dialog[open]")
    const row = page.getByRole("row", { name: /^bao/ })
    await visit.sees("There are no targets yet")
    await visit.isAccessible("targets, of which there are none")
    await visit.press("New target")
    await visit.fill("Name", "bao")
    await visit.fill("url", "http://vault.example.com/path")
    await visit.fill("Key of the credential", "VAULT_TOKEN")
    await visit.sees("place: url must be the address of the server, without a path")
    await visit.isAccessible("a new target")
    await visit.fill("url", kv.url)
    await visit.sees("place: vault needs mount")
    await visit.fill("mount", "secret")
    await visit.fill("path", "webshop/prod")
    await dialog.getByText("Keys, names and automatic pushes").click()
    await visit.fill("Prefix", "WEB_")
    await page.getByLabel("Removal").selectOption("own")
    await dialog.getByRole("button", { name: "Create" }).click()
    await visit.sees("The target bao was added.")
    await row.getByText("not checked").waitFor()
    await visit.isAccessible("targets")

    await visit.press("Plan a push to bao")
    await dialog.getByRole("row", { name: "WEB_STRIPE_KEY STRIPE_KEY new" }).waitFor()
    await visit.isAccessible("the plan of a push")
    assert.deepStrictEqual(kv.data("webshop/prod"), {})
    assert.notInclude(await page.content(), canary)
    await dialog.getByRole("button", { name: "Push 1 to bao" }).click()
    await visit.sees(/revision \d+: 1 pushed, 0 removed there\./)
    assert.deepStrictEqual(kv.data("webshop/prod"), { WEB_STRIPE_KEY: canary })

    kv.write("webshop/prod", { WEB_STRIPE_KEY: "by hand" })
    await visit.press("Check bao")
    await dialog.getByRole("row", { name: "WEB_STRIPE_KEY STRIPE_KEY changed there" }).waitFor()
    await visit.sees("A push repairs them.")
    await page.keyboard.press("Escape")
    await row.getByText("changed there").waitFor()
    await page.getByRole("link", { name: "Matrix" }).click()
    await page.getByRole("columnheader", { name: "prod drift changed there" }).waitFor()
    assert.strictEqual(await page.getByRole("columnheader", { name: /drift/ }).count(), 1)
    await visit.isAccessible("a matrix with a target that drifted")
    await page.getByRole("button", { name: "Actions of prod" }).click()
    await page.getByRole("menuitem", { name: /^See its targets/ }).click()
    await row.getByText("changed there").waitFor()
    assert.match(page.url(), /targets\?env=prod/)

    await visit.press("Automatic pushes to bao")
    await page.getByLabel("Automatic").selectOption("push")
    await visit.confirm("Save")
    await visit.sees("Automatic pushes of bao: push.")
    await visit.press("Pause bao")
    await row.getByText("paused by pushes@example.com").waitFor()
    await visit.press("Undo")
    await row.getByText("paused by").waitFor({ state: "detached" })

    await row.getByRole("link", { name: "bao" }).click()
    await dialog.getByText("by the rights of pushes@example.com").waitFor()
    assert.match(page.url(), /target=bao/)
    await visit.isAccessible("a target")
    await page.goBack()
    await dialog.waitFor({ state: "detached" })
    await visit.press("Delete bao")
    await page.locator("#confirm-name").fill("bao")
    await visit.confirm("Delete")
    await visit.sees("There are no targets yet")
    assert.deepStrictEqual(kv.data("webshop/prod"), { WEB_STRIPE_KEY: "by hand" })
    await visit.close()
  })

  it("are asked for by who may not see them, without a refused call", async () => {
    await ada.call("POST", "/api/orgs/pushes/members", { email: "reader-of-targets@example.com", role: "developer" })
    const visit = await Visit.open("/pushes/webshop/-/targets", await Person.login("reader-of-targets@example.com"))
    await visit.sees("You may not see the targets of prod")
    await visit.isAccessible("targets without the right")
    const log = await ada.call("GET", "/api/orgs/pushes/audit-logs?action=access.denied")
    assert.deepStrictEqual(log.data, [])
    await visit.close()
  })
})
