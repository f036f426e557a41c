import { createRequire } from "node:module"
import { readFileSync } from "node:fs"
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core"
import { assert, inject } from "vitest"
import type { Json, Person } from "./Person.js"
import { isSoak } from "../../../domain/test/support/Runs.js"

let visits = 0

let connected: Promise<Browser> | undefined

/** The browser of all tests. */
export const browser = (): Promise<Browser> => (connected ??= chromium.connect(inject("browser") ?? ""))

export const hasBrowser = (): boolean => inject("browser") !== undefined

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8")

const looks = [
  { width: 390, scheme: "light" },
  { width: 1280, scheme: "dark" },
  // Colours do not depend on the width: the other pairs are for the long form.
  ...(isSoak
    ? ([
        { width: 390, scheme: "dark" },
        { width: 1280, scheme: "light" }
      ] as const)
    : [])
] as const

const isFast = process.env["COFFER_TIER"] === "fast"

/** The look that axe checks in the fast tier, where each page is checked in one: half of them in each. */
const fastLookOf = (name: string) => looks[[...name].reduce((sum, one) => sum + one.charCodeAt(0), 0) % 2]

/** How long what a page is to show may take, in milliseconds: less than a test, so that its name is told. */
const patience = 25_000

/** Presses a button of a page, or opens the menu that has it, and chooses it there. Returns how many presses that took. */
export const press = async (page: Page, name: string | RegExp, which: "first" | "last" = "first"): Promise<number> => {
  const button = page.getByRole("button", { name })
  const item = page.getByRole("menuitem", { name, includeHidden: true })
  // Asked in one step: a page that draws itself anew between two would have its button be sought as an item of a menu.
  const found = await button
    .or(item)
    .first()
    .evaluate((one) => ({
      role: one.getAttribute("role"),
      menu: one.matches(":popover-open *") ? undefined : one.closest("[popover]")?.id
    }))
  if (found.role !== "menuitem") {
    await button[which]().click()
    return 1
  }
  if (found.menu !== undefined) await page.locator(`[popovertarget="${found.menu}"]`).click()
  await item[which]().click()
  return found.menu === undefined ? 1 : 2
}

/** A page in a context of its own, which notes whatever must not happen. */
export class Visit {
  readonly problems: Array<string> = []

  private constructor(
    readonly context: BrowserContext,
    readonly page: Page
  ) {}

  /** Opens an address as a person, who accepts all invitations first, or as nobody. */
  static async open(path: string, person?: Person, { accepts = true } = {}): Promise<Visit> {
    if (accepts) await person?.accept()
    const { url } = inject("server")
    const context = await (
      await browser()
    ).newContext({
      viewport: { width: 1280, height: 800 },
      // The server limits the logins of one address, and all browsers have that of this machine.
      extraHTTPHeaders: { "x-real-ip": `198.19.${process.pid % 256}.${(++visits % 250) + 1}` }
    })
    if (person !== undefined) {
      await context.addCookies([{ name: "coffer", value: person.token, url, httpOnly: true, sameSite: "Strict" }])
    }
    context.setDefaultTimeout(patience)
    const page = await context.newPage()
    const visit = new Visit(context, page)
    page.on("console", (message) => {
      // The browser writes a line for every answer from 400 on, and the page shows what that means.
      if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) {
        visit.problems.push(`console: ${message.text()}`)
      }
    })
    page.on("pageerror", (error) => visit.problems.push(`error: ${error.message}`))
    context.on("request", (request) => {
      const address = request.url()
      if (!address.startsWith(`${url}/`) && !address.startsWith("data:")) visit.problems.push(`request: ${address}`)
    })
    await page.goto(url + path)
    // As a person does: the page loads what is pressed later at the first sign of one.
    await page.mouse.move(640, 2)
    return visit
  }

  /** Waits for a text. */
  async sees(text: string | RegExp): Promise<void> {
    await this.page.getByText(text).first().waitFor()
  }

  /** Presses a button, or chooses from the menu that has it. */
  async press(name: string | RegExp): Promise<void> {
    await press(this.page, name)
  }

  async fill(label: string | RegExp, text: string): Promise<void> {
    await this.page.getByLabel(label).first().fill(text)
  }

  /** Says that a key that is shown once is stored, and closes its dialog. */
  async leaveKey(): Promise<void> {
    await this.page.getByLabel(/^I have stored the/).check()
    await this.page.keyboard.press("Escape")
  }

  /** Presses the button of a dialog that asks. */
  async confirm(name: string): Promise<void> {
    await this.page.locator("dialog[open]").last().getByRole("button", { name, exact: true }).click()
  }

  /**
   * Checks the page at every width for being wider than the window, and at every width and scheme for what keeps people out:
   * at one of them in the fast tier.
   */
  async isAccessible(name: string): Promise<void> {
    for (const look of looks) {
      const { scheme, width } = look
      await this.page.setViewportSize({ width, height: 800 })
      const overflow: Json = await this.page.evaluate(
        "document.documentElement.scrollWidth - document.documentElement.clientWidth"
      )
      assert.isAtMost(overflow, 0, `${name} is wider than ${width} px`)
      if (isFast && look !== fastLookOf(name)) continue
      await this.page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" })
      if (!(await this.page.evaluate("'axe' in window"))) await this.page.evaluate(`${axe};undefined`)
      const found: Json = await this.page.evaluate(
        `axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"] }).then(({ violations }) =>
          violations.map(({ id, nodes }) => id + ": " + nodes.map(({ html, failureSummary }) => html.slice(0, 200) + " " + failureSummary).join(" | ")))`
      )
      assert.deepStrictEqual(found, [], `${name} at ${width} px, ${scheme}`)
    }
    await this.page.setViewportSize({ width: 1280, height: 800 })
  }

  /** Closes the page, and fails if anything happened that must not. */
  async close(): Promise<void> {
    await this.context.close()
    assert.deepStrictEqual(this.problems, [])
  }
}
