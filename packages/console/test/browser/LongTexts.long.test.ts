import { readdirSync, readFileSync } from "node:fs"
import type { Locator } from "playwright-core"
import { assert, beforeAll, describe, inject, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { cellOf, edit } from "../support/Cells.js"
import {
  addresses,
  env,
  fill,
  invited,
  isTooWide,
  key,
  long,
  org,
  project,
  projectPath,
  tooWide,
  turning,
  withoutTexts
} from "../support/LongTexts.js"
import { passing } from "../../src/routing/Typed.js"
import { type Json, Person } from "../support/Person.js"
import { settling } from "../support/Settling.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`

/** Buttons that end the visit. */
const ends = /^(Log out|End all|Refuse$)/

/** Fields of one line or more that take a typed text. */
const fields =
  "input:is(:not([type]), [type=text], [type=search], [type=email], [type=url]):enabled:visible, textarea:enabled:visible"

/** Dialogs that an owner opens otherwise, or not at all. */
const elsewhere = new Map([
  ["Ask for access", "people without a right: Requests"],
  ["Import", "the menu of the matrix: WaysOut"],
  ["Disable a person", "superadmins: Safety"],
  ["Review", "a staged change: WaysOut"],
  ["Set the due date of the chosen keys", "chosen keys: Bulk"]
])

/** The titles of all dialogs of the console that take a typed text. */
const formTitles = (): ReadonlyArray<string> => {
  const source = new URL("../../src/", import.meta.url)
  const files = readdirSync(source, { encoding: "utf8", recursive: true }).filter((name) => name.endsWith(".tsx"))
  return files.flatMap((name) => {
    const text = readFileSync(new URL(name, source), "utf8")
    if (!/<(?:TextField|TextArea|PatternFields|textarea)\b/.test(text)) return []
    return [...text.matchAll(/<(?:Form)?Dialog\s[^>]*?\btitle="([^"]+)"/g)].flatMap(([, title = ""]) =>
      elsewhere.has(title) ? [] : [title]
    )
  })
}

describe.skipIf(!hasBrowser())(`the longest texts of people${why}`, { timeout: 300_000 }, () => {
  let people: Awaited<ReturnType<typeof fill>>
  beforeAll(async () => {
    people = await fill()
  })

  /** A look at pages, which notes what is too wide for the window. */
  const look = async (person: Person, accepts = true) => {
    const visit = await Visit.open("/-/account", person, { accepts })
    const { page } = visit
    const wrong: Array<Json> = []
    let looks = 0
    const settle = settling(page)
    const check = async (name: string) => {
      for (const width of [320, 1440]) {
        await page.setViewportSize({ width, height: 900 })
        await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        const found: Json = await page.evaluate(tooWide)
        looks += 1
        if (isTooWide(found)) {
          wrong.push(JSON.parse(JSON.stringify({ name, width, ...found }).replace(/w{5,}/gi, "w…")))
        }
      }
    }
    const open = async (address: string) => {
      await page.goto(inject("server").url + address)
      await page.locator("#page h1").first().waitFor({ state: "attached" })
      await page.locator(".loading").first().waitFor({ state: "detached" })
      await settle()
      await page.evaluate(`for (const one of document.querySelectorAll("#page details")) one.open = true`)
    }
    const forms = new Set<string>()
    const lost: Array<string> = []
    /** Checks that Escape asks before a dialog loses what was typed into it. */
    const holdsTyped = async (name: string, dialog: Locator) => {
      const work = dialog.locator(fields).and(dialog.locator(`:not(${passing}, :placeholder-shown)`))
      const texts = await work.evaluateAll((all) =>
        all.filter((one) =>
          one instanceof HTMLInputElement || one instanceof HTMLTextAreaElement ? one.value !== one.defaultValue : false
        )
      )
      if (texts.length === 0) return
      forms.add(await dialog.locator("h2").first().innerText())
      await page.keyboard.press("Escape")
      const question = page.getByRole("dialog", { name: "Leave this behind?" })
      await question.waitFor({ timeout: 2_000 }).catch(() => lost.push(name))
    }
    /** Types the longest text into each field of the page or of the dialog that is open. */
    const type = async (name: string) => {
      const dialog = page.locator("dialog[open]").last()
      const isDialog = (await page.locator("dialog[open]").count()) > 0
      const found = await (isDialog ? dialog : page.locator("#page")).locator(fields).all()
      for (const field of found) {
        // Another text than the one that the page may have typed there.
        const before = await field.inputValue().catch(() => "")
        await field.fill(long(before.length === 300 ? 301 : 300)).catch(() => undefined)
      }
      if (found.length === 0) return
      await check(`${name}, typed`)
      if (isDialog) await holdsTyped(name, dialog)
    }
    /** Closes all dialogs, and gives up what was typed. */
    const close = async () => {
      for (let tries = 0; tries < 6 && (await page.locator("dialog[open]").count()) > 0; tries++) {
        const giveUp = page.getByRole("button", { name: "Leave it" })
        const stored = page.locator("dialog[open]").getByLabel(/^I have stored/)
        if ((await giveUp.count()) > 0) await giveUp.click()
        else if ((await stored.count()) > 0) await stored.check()
        else await page.keyboard.press("Escape")
        await page.waitForTimeout(20)
      }
    }
    return { visit, page, wrong, forms, lost, check, open, settle, type, close, looks: () => looks }
  }

  it("make no page or dialog wider than its window, at 320 and 1440 pixels, and are asked about before they are lost", async () => {
    const { check, close, forms, looks, lost, open, page, settle, type, visit, wrong } = await look(people.ada)
    const silent: Array<string> = []
    for (const each of addresses) {
      // A page that a program opens, with what it asks for.
      const address = each === "/-/authorize" ? people.consent : each
      await open(address)
      const text: string = await page.locator("#page").innerText()
      if (!/w{20}/i.test(text) && !withoutTexts.has(address)) silent.push(address)
      await check(address)
      const pressed = new Set<string>()
      for (;;) {
        // Buttons of the same words do the same to another row.
        const next: string | null = await page.evaluate(`{
          const pressed = ${JSON.stringify([...pressed])}
          const wordsOf = (one) => one.textContent.replace(/w{5,}/gi, "w").replace(/\\S*w[@.]\\S*|[0-9a-f-]{36}/gi, "…").trim()
          const found = [...document.querySelectorAll("#page button:enabled")]
            .filter((one) => one.type !== "submit" && one.getClientRects().length > 0 && one.closest("dialog") === null)
            .find((one) => !pressed.includes(wordsOf(one)))
          document.querySelector("[data-next]")?.removeAttribute("data-next")
          found?.setAttribute("data-next", "")
          found === undefined ? null : wordsOf(found)
        }`)
        if (next === null) break
        pressed.add(next)
        if (ends.test(next)) continue
        await page.evaluate("document.querySelector('[data-next]').click()")
        await settle()
        await page.evaluate(`for (const one of document.querySelectorAll("dialog[open] details")) one.open = true`)
        const name = `${address} ${next}`
        await check(name)
        await type(name)
        await close()
        if (page.url() !== inject("server").url + address) await open(address)
      }
      await open(address)
      await type(address)
    }
    assert.isAbove(looks(), 200)
    assert.deepStrictEqual(silent, [], "these pages show no long text: fill one in LongTexts.ts")
    assert.deepStrictEqual(wrong, [])
    assert.deepStrictEqual(lost, [], "these dialogs lose what was typed")
    assert.deepStrictEqual(
      formTitles().filter((title) => !forms.has(title)),
      [],
      "no button opened these forms: fill what they need in LongTexts.ts"
    )
    await visit.close()
  })

  it("stay within the matrix's panel and review, the search, the menu and an invitation, for others too", async () => {
    const { check, close, open, page, settle, type, visit, wrong } = await look(people.ada)
    const matrix = `/${org}/${project}`
    await open(matrix)
    await cellOf(visit, key, "dev").click()
    await check("the panel of a cell")
    await page.getByRole("button", { name: "Reveal" }).click()
    await settle()
    await check("a revealed value")
    await page.keyboard.press("Escape")
    await edit(visit, key, "dev", long(3_000))
    await check("a staged value")
    await visit.press("Review and write")
    await settle()
    await check("a review")
    await type("a review")
    await close()
    await page.getByRole("checkbox", { name: new RegExp(`^Choose ${key}`) }).check()
    await check("chosen keys")
    await visit.press("Discard")
    await page.keyboard.press("Control+k")
    for (const text of ["w", long(300)]) {
      await page.getByRole("combobox", { name: "A place, a key or an action" }).fill(text)
      await settle()
      await check(`the search for ${text}`)
    }
    await close()
    await page.getByRole("button", { name: /^Account of/ }).click()
    await check("the account menu")
    await visit.close()

    for (const [person, accepts] of [
      [people.dora, true],
      [await Person.login(invited), false],
      [await Person.root(), true]
    ] as const) {
      const other = await look(person, accepts)
      for (const address of addresses) {
        await other.open(address)
        await other.check(`${address} of ${person.email}`)
      }
      wrong.push(...other.wrong)
      await other.visit.close()
    }
    assert.deepStrictEqual(wrong, [])
  })

  it("turn nothing that stands around them: controls of direction are drawn, and refused in reasons and notes", async () => {
    const mapping = { provider_group: "staff \u202e turned", group: long(64, "g") }
    await people.ada.call("PUT", `/api/orgs/${org}/group-mappings`, { mappings: [mapping] })
    const visit = await Visit.open(`/${org}/-/groups`, people.ada)
    await visit.page.locator('.invisible[data-drawn="U+202E"]').first().waitFor()
    const refused = async (method: string, path: string, body: object) => {
      const message = await people.ada.call(method, path, body).then(() => "accepted", String)
      assert.include(message, "VALIDATION_ERROR")
      assert.include(message, "controls of the direction of text")
    }
    const access = { kind: "access", project, env, permission: "read", expires_in: 3_600 }
    for (const turned of turning) {
      await refused("POST", `/api/orgs/${org}/requests`, { ...access, reason: `INC ${turned}12` })
      await refused("PATCH", `${projectPath}/envs/dev/bundle`, { set: { KEY: "1" }, note: `INC ${turned}12` })
      await refused("PUT", `${projectPath}/declared/KEY`, { description: `The ${turned} shop` })
    }
    await visit.close()
  })
})
