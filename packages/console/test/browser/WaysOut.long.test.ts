import { assert, beforeAll, describe, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { cellOf } from "../support/Cells.js"
import { hold } from "../support/Hold.js"
import { Person } from "../support/Person.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`

const org = "ways-out"

/** Opens an address within the console, so that Back leads to another of its pages. */
const follow = (visit: Visit, address: string) =>
  visit.page.evaluate(
    `{ history.pushState({ at: 1 }, "", ${JSON.stringify(address)}); dispatchEvent(new PopStateEvent("popstate", { state: { at: 1 } })) }`
  )

let invited = 0

/** Something that a person would lose: the steps that make a page hold it, and the check that it is still there. */
interface Holder {
  readonly address: string
  readonly begin: (visit: Visit) => Promise<void>
  readonly isThere: (visit: Visit) => Promise<boolean>
}

const typedIn = (selector: string, text: string) => async (visit: Visit) =>
  (await visit.page.locator(selector).count()) === 1 && (await visit.page.locator(selector).inputValue()) === text

const holders: Readonly<Record<string, Holder>> = {
  "a text in the editor of a cell": {
    address: `/${org}/webshop`,
    begin: async (visit) => {
      await cellOf(visit, "KEY", "dev").click()
      await visit.page.locator(".matrix-panel").getByRole("button", { name: "Edit" }).click()
      await visit.page.keyboard.type("typed")
    },
    isThere: typedIn("#matrix-editor", "typed")
  },
  "a text in a dialog": {
    address: `/${org}/webshop`,
    begin: async (visit) => {
      await visit.press("New key")
      await visit.page.locator("dialog").getByLabel("dev", { exact: true }).click()
      await visit.page.keyboard.type("typed")
    },
    isThere: typedIn("#value-dev", "typed")
  },
  "a file in the import": {
    address: `/${org}/webshop`,
    begin: async (visit) => {
      await visit.press("Import")
      await visit.fill("The text of the file", "NEW_KEY=1")
    },
    isThere: typedIn("dialog textarea", "NEW_KEY=1")
  },
  "a text in the form of a connection": {
    address: `/${org}/webshop/-/renewal`,
    begin: async (visit) => {
      await visit.press("New connection")
      await visit.fill("Host", "typed")
    },
    isThere: typedIn('dialog input[placeholder="db.internal.example.com"]', "typed")
  },
  "a text in a form of the page": {
    address: `/${org}/-/settings`,
    begin: (visit) => visit.fill("Name of the organization", "typed"),
    isThere: typedIn(".fields input", "typed")
  },
  "a key that is shown once": {
    address: `/${org}/-/webhooks`,
    begin: async (visit) => {
      await visit.press("New webhook")
      await visit.fill("Address", "https://hooks.example.com/coffer")
      await visit.page.locator("dialog").getByRole("button", { name: "Create" }).click()
      await visit.sees("This is the only time")
    },
    isThere: async (visit) => (await visit.page.locator(".one-time-key > code").count()) === 1
  },
  "an import of people that runs": {
    address: `/${org}/-/members`,
    begin: async (visit) => {
      await visit.press("Invite many by CSV")
      // A request that was held may arrive in the end: each time another person.
      const address = `new-${++invited}@example.com`
      await visit.fill("The people, as CSV", `email\n${address}\n`)
      await visit.page.getByRole("row", { name: new RegExp(`^${address}`) }).waitFor()
      await hold(visit.page, "POST", "**/members")
      await visit.press("Invite 1")
    },
    isThere: async (visit) => (await visit.page.getByRole("heading", { name: "Invite many people" }).count()) === 1
  }
}

/** A way out, as a person takes it. */
const ways = {
  "a link": (visit: Visit) => visit.page.getByRole("link", { name: "Coffer" }).click(),
  Back: (visit: Visit) => visit.page.evaluate("history.back()"),
  Escape: (visit: Visit) => visit.page.keyboard.press("Escape"),
  "✕": (visit: Visit) => visit.page.getByRole("button", { name: "Close" }).click(),
  "another cell": (visit: Visit) => cellOf(visit, "OTHER", "prod").click(),
  "the palette": async (visit: Visit) => {
    await visit.page.keyboard.press("Control+k")
    await visit.page.getByRole("combobox", { name: "A place, a key or an action" }).fill("Webhooks")
    await visit.page.keyboard.press("Enter")
  },
  "a logout": async (visit: Visit) => {
    await visit.press("Log out")
  },
  "a reload": (visit: Visit) => visit.page.evaluate("void setTimeout(() => location.reload())")
} satisfies Readonly<Record<string, (visit: Visit) => Promise<unknown>>>
type Way = keyof typeof ways
const isWay = (name: string): name is Way => Object.hasOwn(ways, name)

/** The effect of a way out on a holder: asks, asks as the browser does, stages, or is absent because a dialog is modal. */
const table: Readonly<Record<keyof typeof holders, Readonly<Partial<Record<Way, "asks" | "browser" | "stages">>>>> = {
  "a text in the editor of a cell": {
    Escape: "asks",
    "✕": "asks",
    "a logout": "asks",
    "a reload": "browser",
    "another cell": "stages",
    "a link": "stages",
    Back: "stages",
    "the palette": "stages"
  },
  "a text in a dialog": { Escape: "asks", "✕": "asks", Back: "asks", "a reload": "browser" },
  "a file in the import": { Escape: "asks", "✕": "asks", Back: "asks", "a reload": "browser" },
  "a text in the form of a connection": { Escape: "asks", "✕": "asks", Back: "asks", "a reload": "browser" },
  "a text in a form of the page": {
    "a link": "asks",
    Back: "asks",
    "the palette": "asks",
    "a logout": "asks",
    "a reload": "browser"
  },
  "a key that is shown once": { Escape: "asks", "✕": "asks", Back: "asks", "a reload": "browser" },
  // Its dialog does not close before it has ended.
  "an import of people that runs": { Back: "asks", "a reload": "browser" }
}

describe.skipIf(!hasBrowser())(`what a person would lose${why}`, { timeout: 300_000 }, () => {
  let ada: Person
  beforeAll(async () => {
    ada = await Person.login("ways@example.com")
    await ada.organization(org, { dev: { KEY: "1", OTHER: "2" }, prod: { KEY: "1", OTHER: "2" } })
  })

  for (const [name, holder] of Object.entries(holders)) {
    it(`is asked about or staged by each way out: ${name}`, async () => {
      const visit = await Visit.open("/-/account", ada)
      const { page } = visit
      await visit.sees("Delegations")
      await follow(visit, holder.address)
      await holder.begin(visit)
      const question = page.getByRole("dialog", { name: "Leave this behind?" })
      let isHeld = true
      for (const [way, then] of Object.entries(table[name] ?? {})) {
        if (!isHeld) await holder.begin(visit)
        assert.isTrue(await holder.isThere(visit), `there before ${way}`)
        // The browser's own question, which a test answers as a person who stays.
        const asked = then === "browser" ? page.waitForEvent("dialog") : undefined
        if (isWay(way)) await ways[way](visit)
        isHeld = then !== "stages"
        if (asked !== undefined) {
          const dialog = await asked
          assert.strictEqual(dialog.type(), "beforeunload")
          await dialog.dismiss()
          assert.isTrue(await holder.isThere(visit), `gone by ${way}`)
        } else if (then === "asks") {
          await question.waitFor()
          assert.isTrue(await holder.isThere(visit), `gone before the answer, by ${way}`)
          await visit.press("Go back to it")
          await question.waitFor({ state: "detached" })
          assert.isTrue(await holder.isThere(visit), `gone after the answer, by ${way}`)
          assert.strictEqual(new URL(page.url()).pathname, holder.address)
        } else {
          await page.locator("#matrix-editor").waitFor({ state: "detached" })
          assert.strictEqual(await question.count(), 0, way)
          if (way !== "another cell") await follow(visit, holder.address)
          await page.getByRole("gridcell", { name: /^KEY in dev: .*new value staged/ }).waitFor()
          await visit.press("Discard")
          await page.getByRole("gridcell", { name: /^KEY in dev: .*new value staged/ }).waitFor({ state: "detached" })
        }
      }
      await visit.close()
    })
  }

  it("is not lost by Back from a dialog, which closes the dialog and leaves the page", async () => {
    const visit = await Visit.open("/-/account", ada)
    await visit.sees("Delegations")
    const { page } = visit
    await follow(visit, `/${org}/-/members`)
    const path = () => new URL(page.url()).pathname
    const dialog = page.locator("dialog[open]")
    // A drawer, whose address can be sent, and a dialog without an address.
    await page
      .getByRole("row", { name: /ways@example/ })
      .getByRole("link")
      .click()
    await page.getByRole("dialog", { name: "ways@example.com" }).waitFor()
    const address = page.url()
    await page.goBack()
    await dialog.waitFor({ state: "detached" })
    assert.strictEqual(path(), `/${org}/-/members`)
    assert.notInclude(page.url(), "member=")
    await page.goto(address)
    await page.getByRole("dialog", { name: "ways@example.com" }).waitFor()
    await page.keyboard.press("Escape")
    await dialog.waitFor({ state: "detached" })
    await visit.press("Role of ways@example.com")
    await page.getByRole("dialog", { name: "Role of ways@example.com" }).waitFor()
    await page.goBack()
    await dialog.waitFor({ state: "detached" })
    // One that is closed otherwise leaves no step behind.
    await visit.press("Role of ways@example.com")
    await visit.press("Cancel")
    await dialog.waitFor({ state: "detached" })
    await page.getByRole("link", { name: "Audit" }).click()
    await page.getByRole("heading", { name: "Audit log" }).waitFor()
    await page.goBack()
    await page.getByRole("heading", { name: "Members" }).waitFor()
    await visit.close()
  })

  it("leaves what the person gives up, by every way", async () => {
    const visit = await Visit.open("/-/account", ada)
    await visit.sees("Delegations")
    const holder = holders["a text in a form of the page"]
    assert.isDefined(holder)
    await follow(visit, `/${org}/-/settings`)
    await holder?.begin(visit)
    await visit.page.evaluate("history.back()")
    await visit.press("Leave it")
    await visit.sees("Delegations")
    assert.strictEqual(new URL(visit.page.url()).pathname, "/-/account")
    await follow(visit, `/${org}/webshop`)
    await holders["a text in the editor of a cell"]?.begin(visit)
    await visit.page.keyboard.press("Escape")
    await visit.press("Leave it")
    await visit.page.locator("#matrix-editor").waitFor({ state: "detached" })
    assert.strictEqual(await visit.page.getByText("staged").count(), 0)
    await holders["a text in the editor of a cell"]?.begin(visit)
    await visit.page.keyboard.press("Escape")
    await visit.press("Stage it")
    await visit.sees("1 change staged")
    await visit.close()
  })

  it("revokes a key that nobody has stored, and asks nothing about one that was copied", async () => {
    const visit = await Visit.open(`/${org}/-/webhooks`, ada)
    const key = holders["a key that is shown once"]
    const before = (await ada.call("GET", `/api/orgs/${org}/webhooks`)).data.length
    await key?.begin(visit)
    await visit.page.keyboard.press("Escape")
    await visit.isAccessible("the question before a key is lost")
    await visit.press("Delete the webhook")
    await visit.page.locator("dialog").first().waitFor({ state: "detached" })
    assert.strictEqual((await ada.call("GET", `/api/orgs/${org}/webhooks`)).data.length, before)
    await key?.begin(visit)
    await visit.page.getByLabel("I have stored the key").check()
    await visit.page.keyboard.press("Escape")
    await visit.page.locator("dialog").first().waitFor({ state: "detached" })
    assert.strictEqual((await ada.call("GET", `/api/orgs/${org}/webhooks`)).data.length, Number(before) + 1)
    await visit.close()
  })
})
