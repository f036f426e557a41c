import { assert, describe, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { cellOf, writeAll } from "../support/Cells.js"
import { Person } from "../support/Person.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`
const org = "typed-values"

/** The path of a value in the API. */
const value = (env: string, key: string) => `/api/orgs/${org}/projects/webshop/envs/${env}/secrets/${key}`

describe.skipIf(!hasBrowser())(`values as they are typed and shown${why}`, { timeout: 120_000 }, () => {
  it("are stored as they were typed: Enter stages, Shift and Enter break the line, and a line feed at the end is said", async () => {
    const ada = await Person.login("typed@example.com")
    await ada.organization(org, { prod: { OTHER: "1" } })
    const visit = await Visit.open(`/${org}/webshop`, ada)
    /** Typed keys go to the page beneath until the dialog has the focus. */
    const newKey = async () => {
      await visit.press("New key")
      await visit.page.locator("dialog input:focus").waitFor()
    }
    await newKey()
    await visit.page.keyboard.type("TOKEN")
    await visit.page.locator("dialog").getByLabel("dev", { exact: true }).click()
    await visit.page.keyboard.type("abc")
    await visit.page.keyboard.press("Enter")
    await visit.sees("1 change staged")
    await newKey()
    await visit.page.keyboard.type("LINES")
    await visit.page.locator("dialog").getByLabel("dev", { exact: true }).click()
    await visit.page.keyboard.type("one")
    await visit.page.keyboard.press("Shift+Enter")
    await visit.page.keyboard.type("two")
    await visit.page.keyboard.press("Shift+Enter")
    await visit.sees("The value ends with a line feed.")
    await visit.isAccessible("a value that ends with a line feed")
    await visit.press("Remove it")
    assert.strictEqual(await visit.page.getByText("ends with a line feed").count(), 0)
    await visit.page.locator("dialog").getByLabel("dev", { exact: true }).press("Enter")
    await visit.sees("2 changes staged")
    await writeAll(visit, "dev")
    assert.strictEqual((await ada.call("GET", value("dev", "TOKEN"))).value, "abc")
    assert.strictEqual((await ada.call("GET", value("dev", "LINES"))).value, "one\ntwo")
    await visit.close()
  })

  it("show what is not seen in a reveal, a review and an import, and give it to who copies them", async () => {
    const ada = await Person.login("typed@example.com")
    const text = " pay \u202e001\u200b\n"
    await ada.call("PUT", value("prod", "HIDDEN"), { value: text })
    const visit = await Visit.open(`/${org}/webshop`, ada)
    const drawn = ".invisible"
    await cellOf(visit, "HIDDEN", "prod").click()
    await visit.press("Reveal")
    await visit.page.locator("output.matrix-value").waitFor()
    const marks = await visit.page
      .locator(`output.matrix-value ${drawn}`)
      .evaluateAll((found) => found.map((one) => one.getAttribute("data-drawn")))
    assert.deepStrictEqual(marks, ["·", "U+202E", "U+200B", "↵"])
    assert.strictEqual(await visit.page.locator("output.matrix-value").textContent(), text)
    await visit.isAccessible("a value with characters that are not seen")
    await visit.page.keyboard.press("Escape")
    await visit.press("Import")
    await visit.fill("The text of the file", 'SPACED="x "\nPLAIN=y\n')
    await visit.sees("The value of SPACED ends with a blank.")
    assert.strictEqual(await visit.page.getByText("The value of PLAIN").count(), 0)
    await visit.press(/^Stage 2 for/)
    await visit.press("Review and write")
    await visit.sees("ends with a blank")
    await visit.page.getByLabel("Show new values").check()
    await visit.page.locator(`dialog ${drawn}`).first().waitFor()
    await visit.close()
  })
})
