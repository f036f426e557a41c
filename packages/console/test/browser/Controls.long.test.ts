import { assert, describe, inject, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { Person } from "../support/Person.js"
import { settling } from "../support/Settling.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`

const org = "controls"
const api = `/api/orgs/${org}`

/** Every page, and the dialogs of it that have controls: the buttons that open them. */
const pages: ReadonlyArray<readonly [address: string, ...dialogs: ReadonlyArray<string | RegExp>]> = [
  ["/"],
  ["/-/account", "New delegation"],
  ["/-/users"],
  ["/-/server"],
  ["/-/backups"],
  [`/${org}`],
  [`/${org}/-/members`, /^Role of grace@/, "Invite many by CSV"],
  [`/${org}/-/groups`, "New group", /^Members of backend/],
  [`/${org}/-/rules`, "New rule"],
  [`/${org}/-/accounts`, "New service account", /^Rotate the key of deploy/],
  [`/${org}/-/approvals`],
  [`/${org}/-/webhooks`, "New webhook", /^Edit https/],
  [`/${org}/-/audit`],
  [`/${org}/-/settings`],
  [`/${org}/webshop`, "New key", "Import", "Export"],
  [`/${org}/webshop/-/promote`],
  [`/${org}/webshop/-/history`],
  [`/${org}/webshop/-/targets?env=dev`, "New target"],
  [`/${org}/webshop/-/renewal?env=dev`, "New connection", "New rotation", "New role"],
  [`/${org}/webshop/-/who`, "Record a review"],
  [`/${org}/webshop/-/settings`, "New environment", /^Protect of the environment dev/],
  [`/${org}/webshop/KEY?env=dev`, "Edit", "Allow a use"]
]

describe.skipIf(!hasBrowser())(`the controls of every page${why}`, { timeout: 300_000 }, () => {
  it("send nothing that writes when one chooses, ticks or presses the arrow keys", async () => {
    const root = await Person.root()
    await root.organization(org, { dev: { KEY: "1" }, prod: { KEY: "2" } })
    await root.call("POST", `${api}/members`, { email: "grace@example.com", role: "member" })
    await root.call("POST", `${api}/groups`, { name: "backend" })
    await root.call("POST", `${api}/service-accounts`, { name: "deploy" })
    await root.call("POST", `${api}/webhooks`, {
      url: "https://hooks.example.com/x",
      events: ["*"],
      environments: ["*"]
    })
    const visit = await Visit.open("/", root)
    const settle = settling(visit.page)
    const writes: Array<string> = []
    let at = ""
    visit.page.on("request", (request) => {
      const body = request.postData() ?? ""
      if (request.method() !== "GET" && !body.includes('"dry_run":true')) {
        writes.push(`${at}: ${request.method()} ${new URL(request.url()).pathname}`)
      }
    })
    let tried = 0
    /** Uses every control that can be used, as the mouse and as the keyboard do. One may show others, which are not used. */
    const use = async () => {
      const scope = (await visit.page.locator("dialog[open]").count()) > 0 ? "dialog[open]" : "#page"
      // Counted each time: what is chosen may bring another list.
      const selects = visit.page.locator(`${scope} select:enabled:visible`)
      for (let index = 0; index < (await selects.count()); index++) {
        const select = selects.nth(index)
        await select.focus()
        await visit.page.keyboard.press("ArrowDown")
        await visit.page.keyboard.press("ArrowUp")
        // The choice of the keys may change the page, and the options with it.
        await settle()
        const count = await select.locator("option").count()
        await select.selectOption({ index: count - 1 })
        await select.selectOption({ index: 0 })
        await settle()
        tried += 1
      }
      const boxes = visit.page.locator(`${scope} input:is([type=checkbox], [type=radio]):enabled:visible`)
      for (let index = 0; index < (await boxes.count()); index++) {
        const box = boxes.nth(index)
        await box.focus()
        await visit.page.keyboard.press("Space")
        await visit.page.keyboard.press("ArrowDown")
        tried += 1
      }
    }
    for (const [address, ...dialogs] of pages) {
      at = address
      await visit.page.goto(inject("server").url + address)
      await visit.page.locator("#page h1").first().waitFor({ state: "attached" })
      await visit.page.locator(".loading").first().waitFor({ state: "detached" })
      await settle()
      await use()
      for (const name of dialogs) {
        at = `${address} ${String(name)}`
        await visit.page.goto(inject("server").url + address)
        await settle()
        await visit.press(name)
        // A list that comes later would take the place of the controls that are used.
        await settle()
        await use()
      }
    }
    await settle()
    assert.isAbove(tried, 40)
    assert.deepStrictEqual(writes, [])
    await visit.close()
  })

  it("change a role after it was chosen and confirmed, with a sentence for one's own", async () => {
    const root = await Person.root()
    const visit = await Visit.open(`/${org}/-/members`, root)
    const roleOf = async (email: string) =>
      (await root.call("GET", `${api}/members`)).data.find((one: { email: string }) => one.email === email).role
    await visit.press(/^Role of grace@/)
    await visit.page.locator("dialog select").selectOption("owner")
    await visit.sees("An owner can change every role, yours too")
    await visit.isAccessible("a role that is about to change")
    assert.strictEqual(await roleOf("grace@example.com"), "member")
    await visit.press("Make grace@example.com owner")
    await visit.page.locator("dialog").waitFor({ state: "detached" })
    assert.strictEqual(await roleOf("grace@example.com"), "owner")
    await visit.press(/^Role of root@/)
    await visit.page.locator("dialog select").selectOption("admin")
    await visit.sees("This is your own role.")
    await visit.press("Cancel")
    assert.strictEqual(await roleOf("root@example.com"), "owner")
    await visit.close()
  })
})
