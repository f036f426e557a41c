import { assert, describe, expect, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { cellOf, writeAll } from "../support/Cells.js"
import { Person } from "../support/Person.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`

/** Drops a file on the page; counts how often files are read. */
const drop = (visit: Visit, name: string, text: string, times = 1) =>
  visit.page.evaluate(`{
    globalThis.reads ??= 0
    globalThis.readText ??= File.prototype.text
    File.prototype.text = function () { globalThis.reads++; return globalThis.readText.call(this) }
    const data = new DataTransfer()
    data.items.add(new File([${JSON.stringify(text)}.repeat(${times})], ${JSON.stringify(name)}))
    document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }))
  }`)

const reads = (visit: Visit) => visit.page.evaluate("globalThis.reads ?? 0")

/** Puts a text into the clipboard, and presses Ctrl V. */
const paste = async (visit: Visit, text: string) => {
  await visit.page.evaluate(`navigator.clipboard.writeText(${JSON.stringify(text)})`)
  await visit.page.keyboard.press("Control+v")
}

describe.skipIf(!hasBrowser())(`pasting and dropping${why}`, { timeout: 120_000 }, () => {
  it("works anywhere on a project: empty, in the matrix, on its other pages; and takes no file over 8 MiB", async () => {
    const ada = await Person.login("pastes@example.com")
    await ada.organization("pastes")
    const visit = await Visit.open("/pastes/webshop", ada)
    const { page } = visit
    const text = page.getByLabel("The text of the file")
    await visit.context.grantPermissions(["clipboard-read", "clipboard-write"])
    await visit.sees("webshop has no secrets yet")
    await paste(visit, "API_KEY=canary-1\nLOG_LEVEL=debug\n")
    await visit.sees("2 created")
    assert.strictEqual(await page.getByLabel("Into").inputValue(), "dev")
    await visit.isAccessible("the plan of an import")
    await text.focus()
    await page.keyboard.press("Tab")
    await visit.press("Stage 2 for dev")
    await writeAll(visit, "dev")

    await page.getByRole("columnheader", { name: "prod" }).getByRole("button", { name: "prod", exact: true }).click()
    await page.getByRole("grid").focus()
    await paste(visit, '{"API_KEY": "canary-2"}')
    await visit.sees("1 created")
    assert.strictEqual(await page.getByLabel("Into").inputValue(), "prod")
    await drop(visit, "other.yaml", "FROM_A_FILE: canary-3\n")
    await expect.poll(() => text.inputValue()).toBe("FROM_A_FILE: canary-3\n")
    await visit.sees("1 created")
    await visit.press("Stage 1 for prod")
    await visit.sees("1 change staged")

    // On the page of a secret, where a field takes what is pasted into it.
    await page.getByRole("link", { name: "API_KEY" }).click()
    await page
      .getByRole("complementary")
      .getByRole("button", { name: /^dev version/ })
      .click()
    await page.getByRole("link", { name: "Full page" }).click()
    await page.getByRole("row", { name: /^v1 / }).waitFor()
    await page.getByRole("button", { name: "Edit", exact: true }).click()
    await paste(visit, "a value")
    assert.strictEqual(await page.locator("#matrix-editor").inputValue(), "a value")
    await drop(visit, "early.env", "EARLY=1\n")
    await visit.sees("Finish what you are typing first, and then drop early.env again.")
    await visit.press("Dismiss")
    await page.getByRole("button", { name: "Cancel" }).click()
    await paste(visit, "MORE=canary-4")
    await visit.sees("1 created")
    assert.strictEqual(new URL(page.url()).pathname, "/pastes/webshop")
    await page.keyboard.press("Escape")
    await page.getByRole("navigation", { name: "Project" }).getByRole("link", { name: "Settings" }).click()
    await visit.sees("Settings of webshop")
    await drop(visit, "settings.env", "FROM_SETTINGS=canary-5\n")
    await expect.poll(() => text.inputValue()).toBe("FROM_SETTINGS=canary-5\n")
    await page.keyboard.press("Escape")
    await cellOf(visit, "API_KEY", "dev").waitFor()
    assert.notInclude(await page.content(), "canary-")

    // Ten mebibytes are refused before they are read, and in the dialog before they are parsed.
    const before = await reads(visit)
    await drop(visit, "huge.env", "A=0123456789abc\n", 655_360)
    await visit.sees("huge.env has 10.0 MiB, and at most 8 MiB are read at once")
    assert.deepStrictEqual([await reads(visit), await page.locator("dialog").count()], [before, 0])
    await visit.isAccessible("a file that is too large")
    await visit.press("Dismiss")
    await visit.press("Import")
    await text.evaluate((area) => {
      const data = new DataTransfer()
      data.setData("text/plain", "A=0123456789abc\n".repeat(655_360))
      area.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }))
    })
    await visit.sees("The text has 10.0 MiB")
    assert.strictEqual(await text.inputValue(), "")
    await visit.close()
  })

  it("has values generated in New key and Edit, each environment with one of its own", async () => {
    const ada = await Person.login("generates@example.com")
    await ada.organization("generates", { dev: { OLD: "x" } })
    const visit = await Visit.open("/generates/webshop", ada)
    const { page } = visit
    const { keyboard } = page
    await cellOf(visit, "OLD", "dev").waitFor()
    await visit.press("New key")
    await keyboard.type("SESSION_KEY")
    await page.locator("dialog summary").press("Enter")
    await visit.fill("Length", "48")
    await page.getByLabel("Characters").selectOption("hex")
    await visit.sees("192 random bits")
    await visit.isAccessible("a new key with generated values")
    await page.getByRole("button", { name: "Fill empty fields" }).press("Enter")
    const values = await page
      .locator("dialog textarea")
      .evaluateAll((all) => all.map((one) => Reflect.get(one, "value")))
    assert.deepStrictEqual([values.length, new Set(values).size], [3, 3])
    for (const value of values) assert.match(String(value), /^[0-9a-f]{48}$/)
    await page.locator("dialog").getByRole("button", { name: "Stage" }).press("Enter")
    await visit.sees("3 changes staged")
    await visit.press("Discard")

    await cellOf(visit, "OLD", "dev").click()
    await page.locator(".matrix-panel").getByRole("button", { name: "Edit" }).click()
    await page.locator(".matrix-panel summary").press("Enter")
    await visit.fill("Length", "9999")
    await visit.sees("A length from 1 to 4,096")
    await visit.fill("Length", "20")
    await visit.isAccessible("an editor that generates")
    await page.getByRole("button", { name: "Fill in" }).press("Enter")
    assert.match(await page.locator("#matrix-editor").inputValue(), /^[A-Za-z0-9]{20}$/)
    await keyboard.press("Enter")
    await writeAll(visit, "dev")
    const { value } = await ada.call("GET", "/api/orgs/generates/projects/webshop/envs/dev/secrets/OLD")
    assert.match(value, /^[A-Za-z0-9]{20}$/)
    await visit.close()
  })
})
