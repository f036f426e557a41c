import type { Page, Request } from "playwright-core"
import { assert, inject } from "vitest"
import type { ChangingCall } from "../../../domain/test/support/ChangingCalls.js"
import { rowOf } from "./Endpoints.js"
import type { Person } from "./Person.js"
import { Visit } from "./Visit.js"

/** Something that can be pressed. */
interface Target {
  readonly label: string
  /** The heading of the dialog that it stands in; empty on the page. */
  readonly dialog: string
  /** Whether it answers a question: it stands beside the button that cancels. */
  readonly isAnswer: boolean
  /** Whether it stands around every page. */
  readonly isShell: boolean
}

/** A request that would have changed something, and what was pressed last. */
export interface Sent {
  readonly row: ChangingCall
  readonly isAnswer: boolean
  readonly path: string
}

/** More presses in a row lead nowhere new. */
const deepest = 4

/**
 * Finds what can be pressed in the dialog that is in front, or else on the page, and opens what is folded. Runs in the
 * browser. The elements are marked with their number.
 */
const findTargets = (rows: string): ReadonlyArray<Target> => {
  const front = [...document.querySelectorAll("dialog[open]")].at(-1)
  const folds = ":is(#page, dialog) details:not([open])"
  for (const folded of document.querySelectorAll<HTMLDetailsElement>(folds)) folded.open = true
  for (const one of document.querySelectorAll("[data-target]")) one.removeAttribute("data-target")
  const pressable = "button:enabled, header summary, [role=gridcell], [role=option], input[type=checkbox]:enabled"
  const textOf = (one: Element) => (one.textContent ?? "").trim().replaceAll(/\s+/g, " ")
  const labelOf = (one: Element) => {
    const label = one instanceof HTMLInputElement ? one.labels?.[0] : null
    return one.getAttribute("aria-label")?.split(":")[0] ?? textOf(label ?? one)
  }
  const heading = front?.querySelector("h2")
  const dialog = front === undefined ? "" : heading === null || heading === undefined ? "a dialog" : textOf(heading)
  return (
    [...(front ?? document.body).querySelectorAll<HTMLElement>(pressable)]
      // Other tests make and remove organizations meanwhile, which the search lists for a superadmin.
      .filter((one) => one.getAttribute("role") !== "option" || !/organization|project of/.test(textOf(one)))
      // A dialog is left by Escape.
      .filter((one) => front === undefined || !/^(Cancel|Close)$/.test(labelOf(one)))
      .filter(
        (one) => one.checkVisibility() && (rows === "" || (one.closest("tr")?.textContent ?? rows).includes(rows))
      )
      .map((one, index) => {
        one.dataset.target = String(index)
        const label = labelOf(one)
        const beside = [...(one.closest("dialog footer")?.querySelectorAll("button") ?? [])].map(labelOf)
        return {
          label,
          dialog,
          isAnswer: beside.includes("Cancel") && label !== "Cancel",
          isShell: front === undefined && one.closest("#page") === null
        }
      })
  )
}

/** Gives a question what its answer needs: the name that it asks for, or another choice. */
const prepareAnswer = async (page: Page): Promise<void> => {
  const dialog = page.locator("dialog[open]").last()
  if ((await dialog.locator("footer button:disabled").count()) === 0) return
  const field = dialog.locator("#confirm-name")
  if ((await field.count()) > 0) await field.fill(await dialog.locator("label[for=confirm-name] code").innerText())
  const select = dialog.locator("select:enabled:visible")
  if ((await select.count()) !== 1) return
  const index = await select.evaluate((one) =>
    one instanceof HTMLSelectElement ? [...one.options].map(({ disabled }) => disabled).lastIndexOf(false) : -1
  )
  if (index >= 0) await select.selectOption({ index })
}

const registerPasskey = async (visit: Visit): Promise<void> => {
  const devices = await visit.context.newCDPSession(visit.page)
  await devices.send("WebAuthn.enable")
  const options = {
    ...({ protocol: "ctap2", transport: "internal", hasResidentKey: true } as const),
    ...{ hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true }
  }
  await devices.send("WebAuthn.addVirtualAuthenticator", { options })
  await visit.press("Register a passkey")
  await visit.fill("Name of the passkey", "laptop")
  await visit.confirm("Register")
  await visit.page.getByRole("row", { name: /laptop/ }).waitFor()
}

/**
 * Presses everything on pages once, each time on a page that is as it was when it was opened, and what appears by a press as
 * well. Requests that would change something are refused on their way, as the server refuses who has lost a right: the next
 * press finds everything as it was.
 */
export class Presses {
  readonly sent: Array<Sent> = []
  pressed = 0
  private readonly pending = new Set<Request>()
  private readonly shell = new Set<string>()
  private last: ReadonlyArray<Target> = []
  /** The address that is open, and what can be pressed there before anything was. */
  private opened = { address: "", targets: "" }

  private constructor(readonly visit: Visit) {}

  /** Begins as a person, who first registers a passkey if `hasPasskey`. */
  static async begin(person: Person, { hasPasskey = false } = {}): Promise<Presses> {
    const presses = new Presses(await Visit.open("/-/account", person, { accepts: false }))
    if (hasPasskey) await registerPasskey(presses.visit)
    const { page } = presses.visit
    page.on("dialog", (dialog) => void dialog.accept().catch(() => undefined))
    // Requests of an earlier page do not count.
    page.on("framenavigated", () => {
      presses.pending.clear()
    })
    page.on("request", (request) => presses.pending.add(request))
    page.on("requestfinished", (request) => presses.pending.delete(request))
    page.on("requestfailed", (request) => presses.pending.delete(request))
    await page.route("**/api/**", (route) => {
      const request = route.request()
      const body = request.postData() ?? ""
      const row = rowOf(request.method(), new URL(request.url()).pathname, body)
      if (row === undefined || body.includes('"dry_run":true')) return route.fallback()
      presses.note(row)
      return route.fulfill({ status: 403, json: { error: { code: "FORBIDDEN", message: "not allowed" } } })
    })
    return presses
  }

  private note(row: ChangingCall): void {
    const path = this.last.map(({ dialog, label }) => (dialog === "" ? label : `${dialog}: ${label}`)).join(" → ")
    this.sent.push({ row, isAnswer: this.last.at(-1)?.isAnswer ?? false, path: `${this.visit.page.url()} ${path}` })
  }

  /** Waits until nothing is read any more. */
  private async settle(): Promise<void> {
    const { page } = this.visit
    let calm = 0
    for (let tries = 0; calm < 3; tries++) {
      assert.isBelow(tries, 1_000, `${page.url()} reads without an end`)
      await page.waitForTimeout(20)
      calm = this.pending.size === 0 && (await page.locator(".loading").count()) === 0 ? calm + 1 : 0
    }
  }

  private async targets(rows: string): Promise<ReadonlyArray<Target>> {
    await prepareAnswer(this.visit.page)
    return this.visit.page.evaluate(findTargets, rows)
  }

  /** Opens a page, unless it is open and as it was. */
  private async open(address: string, rows: string): Promise<void> {
    const { page } = this.visit
    const { pathname } = new URL(page.url())
    this.last = []
    const isOpen = this.opened.address === address && pathname === new URL(address, page.url()).pathname
    if (isOpen && JSON.stringify(await this.targets(rows)) === this.opened.targets) return
    await page.goto(inject("server").url + address)
    await page.locator("#page h1").first().waitFor({ state: "attached" })
    await this.settle()
    this.opened = { address, targets: JSON.stringify(await this.targets(rows)) }
  }

  /** Presses targets, one after another. Returns false if one of them has gone. */
  private async press(path: ReadonlyArray<Target>, rows: string): Promise<boolean> {
    for (const [index, { dialog, label }] of path.entries()) {
      // A dialog whose script has come asks for what it lists only then.
      let number = -1
      for (let tries = 0; number < 0 && tries < 50; tries++) {
        if (tries > 0) await this.visit.page.waitForTimeout(100)
        number = (await this.targets(rows)).findIndex((one) => one.label === label && one.dialog === dialog)
      }
      if (number < 0) return false
      this.last = path.slice(0, index + 1)
      await this.visit.page.locator(`[data-target="${number}"]`).click({ timeout: 5_000 })
      await this.settle()
    }
    return true
  }

  /** Presses everything at an address, in those rows of tables that have a text. */
  async all(address: string, rows = ""): Promise<void> {
    const { page } = this.visit
    const seen = new Set<string>()
    const queue: Array<ReadonlyArray<Target>> = [[]]
    for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
      await this.open(address, rows)
      const isThere = await this.press(path, rows)
      assert.isTrue(isThere, `${address}: ${path.map(({ label }) => label).join(" → ")} has gone`)
      this.pressed += path.length === 0 ? 0 : 1
      if (new URL(page.url()).pathname === new URL(address, page.url()).pathname && path.length < deepest) {
        for (const target of await this.targets(rows)) {
          const next = [...path, target]
          const key = `${target.dialog}|${target.label}`
          if (seen.has(key) || this.shell.has(key)) continue
          if (next.some(({ isShell }) => isShell)) this.shell.add(key)
          else seen.add(key)
          queue.push(next)
        }
      }
      if ((await page.locator("dialog[open]").count()) > 0) {
        this.last = [...path, { label: "Escape", dialog: "", isAnswer: false, isShell: false }]
        await page.keyboard.press("Escape")
        await this.settle()
      }
    }
  }
}
