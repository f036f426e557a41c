import { assert, describe, expect, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { tabTo } from "../support/Keyboard.js"
import { type Json, Person } from "../support/Person.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`

describe.skipIf(!hasBrowser())(`the keyboard alone${why}`, { timeout: 120_000 }, () => {
  it("imports, copies chosen keys, and goes back in the history", async () => {
    const ada = await Person.login("by-hand@example.com")
    await ada.organization("by-hand", { dev: { ONE: "canary-1", TWO: "canary-2" } })
    const keysOf = async (env: string) => {
      const { data } = await ada.call("GET", `/api/orgs/by-hand/projects/webshop/envs/${env}/secrets`)
      return data.map(({ key, version }: Json) => `${key} ${version}`)
    }
    const visit = await Visit.open("/by-hand", ada)
    const { keyboard } = visit.page
    const go = async (text: string) => {
      await tabTo(visit, text)
      await keyboard.press("Enter")
    }
    const focused = () => visit.page.evaluate("document.activeElement.id || document.activeElement.role")
    await visit.page.getByRole("row", { name: /^webshop/ }).waitFor()

    // Text that is typed immediately after Ctrl K goes to the palette.
    await keyboard.press("Control+k")
    await keyboard.type("webshop")
    await visit.page.getByRole("option", { name: "webshop project of by-hand" }).waitFor()
    await keyboard.press("Enter")
    await visit.page.getByRole("grid").waitFor()
    await keyboard.press("Control+k")
    await keyboard.type("import")
    await keyboard.press("Enter")
    await expect.poll(focused).toBe("import-text")
    await keyboard.type("TWO=canary-4\nTHREE=canary-3")
    await visit.sees("1 created")
    await go("Stage 2 for dev")
    await go("Review and write")
    await visit.page.locator("dialog .changes").getByText("create").waitFor()
    await go("Write to dev")
    await visit.sees("Written to")
    assert.deepStrictEqual(await keysOf("dev"), ["ONE 1", "THREE 1", "TWO 2"])

    // The focus stays near: in the grid, where the keys are chosen.
    for (let presses = 0; (await focused()) !== "grid"; presses++) {
      assert.isBelow(presses, 30)
      await keyboard.press("Tab")
    }
    await keyboard.press("Control+Home")
    await keyboard.press("Shift+ArrowDown")
    await visit.sees("2 keys chosen")
    await go("Copy to")
    await visit.sees("2 of 2 have a secret in dev")
    await go("Review")
    await visit.page.locator("dialog").getByText("create").first().waitFor()
    await go("Write to staging")
    await visit.sees("Written to staging")
    assert.deepStrictEqual(await keysOf("staging"), ["ONE 1", "THREE 1"])
    await go("Undo")
    await visit.page.getByText("Written to").waitFor({ state: "detached" })
    assert.deepStrictEqual(await keysOf("staging"), [])

    await keyboard.press("Control+k")
    await keyboard.type("history")
    await keyboard.press("Enter")
    await visit.page.getByRole("row", { name: /dev revision 2/ }).waitFor()
    await go("Revert to here (dev, revision 1)")
    await visit.page.locator("dialog").getByText("v2 → v3").waitFor()
    await go("Revert dev")
    await visit.page.getByRole("row", { name: /dev revision 3.*current/ }).waitFor()
    assert.deepStrictEqual(await keysOf("dev"), ["ONE 1", "TWO 3"])
    await go("Undo")
    await visit.page.getByRole("row", { name: /dev revision 4.*current/ }).waitFor()
    assert.deepStrictEqual(await keysOf("dev"), ["ONE 1", "THREE 1", "TWO 4"])
    assert.notInclude(await visit.page.content(), "canary-")
    await visit.close()
  })
})
