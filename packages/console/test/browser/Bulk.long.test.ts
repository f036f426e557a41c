import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, expect, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { cellOf } from "../support/Cells.js"
import { type Json, Person } from "../support/Person.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`

/** The keys of the rows that are chosen. */
const chosen = (visit: Visit): Promise<ReadonlyArray<string>> =>
  visit.page.evaluate(
    `[...document.querySelectorAll("[role=row][aria-selected=true]")].map((row) => row.querySelector(".key").textContent)`
  )

/** Presses a button of the bar of the chosen keys, and then works in the dialog. */
const act = async (visit: Visit, name: string) => {
  await visit.page.getByRole("group", { name: "Chosen keys" }).getByRole("button", { name }).click()
  await visit.page.locator("dialog[open]").waitFor()
}

describe.skipIf(!hasBrowser())(`many keys at once${why}`, { timeout: 120_000 }, () => {
  it("are chosen by keyboard and mouse, deleted, copied, promoted, given a due date, and exported", async () => {
    const ada = await Person.login("bulk@example.com")
    const values = { A_ONE: "1", A_TWO: "2", B_ONE: "3", B_TWO: "4", PATH: "5" }
    await ada.organization("bulk", { dev: values, prod: { A_ONE: "0", QUOTED: "a\nb'\"`$c" } })
    const envs = "/api/orgs/bulk/projects/webshop/envs"
    const keysOf = async (env: string) =>
      (await ada.call("GET", `${envs}/${env}/secrets`)).data.map(({ key }: Json) => key)
    const visit = await Visit.open("/bulk/webshop", ada)
    const { page } = visit
    const { keyboard } = page
    const key = (name: string) => page.getByRole("rowheader", { name, exact: true })
    await cellOf(visit, "A_ONE", "dev").waitFor()

    // By the keyboard alone: a range that grows and shrinks, all that is shown, and none.
    await page.getByRole("grid").focus()
    await keyboard.press("Shift+ArrowDown")
    await keyboard.press("Shift+ArrowDown")
    await keyboard.press("Shift+ArrowUp")
    await expect.poll(() => chosen(visit)).toEqual(["A_ONE", "A_TWO"])
    await keyboard.press("Shift+Space")
    await expect.poll(() => chosen(visit)).toEqual(["A_ONE"])
    await keyboard.press("Escape")
    await expect.poll(() => chosen(visit)).toEqual([])
    await visit.fill("Filter keys", "_one")
    await page.getByRole("grid").focus()
    await keyboard.press("Control+a")
    await visit.sees("2 keys chosen")
    await visit.fill("Filter keys", "b_")
    await visit.sees("1 not shown")
    await visit.isAccessible("chosen keys")
    await visit.fill("Filter keys", "")
    await expect.poll(() => chosen(visit)).toEqual(["A_ONE", "B_ONE"])

    // By the mouse: Ctrl adds, a box takes away, Shift chooses up to there.
    await cellOf(visit, "A_TWO", "dev").click({ modifiers: ["Control"] })
    await key("A_ONE").getByRole("checkbox").click()
    await expect.poll(() => chosen(visit)).toEqual(["A_TWO", "B_ONE"])
    await key("B_TWO")
      .getByRole("checkbox")
      .click({ modifiers: ["Shift"] })
    await expect.poll(() => chosen(visit)).toEqual(["A_ONE", "A_TWO", "B_ONE", "B_TWO"])
    assert.isTrue(await key("B_TWO").getByRole("checkbox").isChecked())

    await act(visit, "Set due date")
    await page.locator("dialog").getByLabel(/^dev/).check()
    await visit.fill("Replace every", "never")
    await page.locator("input[aria-invalid=true]").waitFor()
    await visit.fill("Replace every", "90")
    await visit.fill("Owner", "ops@example.com")
    await visit.isAccessible("the due date of chosen keys")
    await visit.press("Set for 4 secrets")
    await visit.sees("Set for 4 secrets.")
    const due = async () => (await ada.call("GET", `${envs}/dev/secrets`)).data.map(({ owner }: Json) => owner ?? null)
    assert.deepStrictEqual(await due(), [...Array.from({ length: 4 }, () => "ops@example.com"), null])
    await page.locator("dialog").getByRole("button", { name: "Undo" }).click()
    await visit.sees("Taken back for 4 secrets.")
    assert.deepStrictEqual(
      await due(),
      Array.from({ length: 5 }, () => null)
    )
    await keyboard.press("Escape")

    await act(visit, "Copy to")
    await page.getByLabel("To", { exact: true }).selectOption("staging")
    await visit.sees("4 of 4 have a secret in dev")
    await visit.isAccessible("a copy of chosen keys")
    await page.locator("dialog").getByRole("button", { name: "Review" }).click()
    await visit.press("Write to staging")
    await visit.sees("Written to staging")
    assert.deepStrictEqual(await keysOf("staging"), ["A_ONE", "A_TWO", "B_ONE", "B_TWO"])
    await visit.press("Undo")
    await page.getByText("Written to").waitFor({ state: "detached" })
    assert.deepStrictEqual(await keysOf("staging"), [])

    await act(visit, "Delete")
    await page.locator("dialog").getByLabel(/^dev/).check()
    await page.locator("dialog").getByLabel(/^prod/).check()
    await visit.isAccessible("the removal of chosen keys")
    await visit.press("Stage 5 removals")
    await visit.sees("5 changes staged")
    await page.getByRole("grid").focus()
    await keyboard.press("Control+z")
    await page.getByText("changes staged").waitFor({ state: "detached" })
    await act(visit, "Delete")
    await page.locator("dialog").getByLabel(/^dev/).check()
    await visit.press("Stage 4 removals")
    await visit.press("Review and write")
    await visit.fill(/Type/, "dev")
    await visit.press("Write to dev")
    await visit.sees("Written to dev")
    assert.deepStrictEqual(await keysOf("dev"), ["PATH"])
    await visit.press("Undo")
    await cellOf(visit, "B_TWO", "dev").waitFor()

    await visit.press("Promote")
    await visit.sees("Copies secrets from one environment")
    await page.getByLabel("From").selectOption("dev")
    await page.getByLabel("To").selectOption("prod")
    await visit.sees("Review 4 for prod")
    await page.goBack()
    await cellOf(visit, "A_ONE", "dev").waitFor()
    await visit.close()
  })

  it("are exported in every format, which names what it cannot hold, with an entry for the read", async () => {
    const ada = await Person.login("saves@example.com")
    await ada.organization("exports", { prod: { PLAIN: "canary-1", QUOTED: "a\nb'\"`$c", PATH: "canary-2" } })
    await ada.call("PUT", "/api/orgs/exports/projects/webshop/envs/prod/secrets/REFERS", {
      kind: "reference",
      value: "${PLAIN}-x"
    })
    const visit = await Visit.open("/exports/webshop?env=prod", ada)
    const { page } = visit
    await cellOf(visit, "PLAIN", "prod").waitFor()
    const dialog = page.locator("dialog")
    const folder = mkdtempSync(join(tmpdir(), "coffer-exports-"))
    const save = async (button: string) => {
      const [file] = await Promise.all([
        page.waitForEvent("download"),
        dialog.getByRole("button", { name: button }).click()
      ])
      const path = join(folder, file.suggestedFilename())
      await file.saveAs(path)
      return { name: file.suggestedFilename(), text: readFileSync(path, "utf8") }
    }
    await visit.press("Export")
    await dialog.getByRole("button", { name: "Download" }).click()
    await visit.sees("QUOTED has a value with quotes")
    await visit.isAccessible("an export that is not whole")
    const env = await save("Download without them")
    assert.strictEqual(env.name, "webshop-prod.env")
    assert.include(env.text, "REFERS=canary-1-x")
    assert.notInclude(env.text, "QUOTED")
    await visit.sees("3 secrets of prod written to webshop-prod.env")
    for (const [format, sentence] of [
      ["shell", "PATH can make other programs run code"],
      ["docker", "QUOTED has a value of several lines"]
    ] as const) {
      await page.getByLabel("Format").selectOption(format)
      await visit.sees(sentence)
      assert.notInclude((await save("Download without them")).text, sentence.split(" ")[0] ?? "")
    }
    await page.getByLabel("Format").selectOption("json")
    const json = await save("Download")
    assert.deepStrictEqual(JSON.parse(json.text), {
      PATH: "canary-2",
      PLAIN: "canary-1",
      QUOTED: "a\nb'\"`$c",
      REFERS: "canary-1-x"
    })
    await page.getByLabel("Format").selectOption("yaml")
    assert.include((await save("Download")).text, 'PLAIN: "canary-1"')
    assert.notInclude(await page.content(), "canary-")
    await page.keyboard.press("Escape")

    // An export of a single selected row, which is read again.
    await page.getByRole("rowheader", { name: "PLAIN", exact: true }).getByRole("checkbox").click()
    await act(visit, "Export")
    assert.match((await save("Download")).text, /^#.*\nPLAIN=canary-1\n$/)
    // Entries of reads are written in batches.
    const read = async () =>
      (await ada.call("GET", "/api/orgs/exports/audit-logs?action=secret.read")).data.map(
        ({ metadata }: Json) => metadata.keys?.length ?? 1
      )
    await expect.poll(read).toEqual([1, 4])
    rmSync(folder, { recursive: true })
    await visit.close()
  })
})
