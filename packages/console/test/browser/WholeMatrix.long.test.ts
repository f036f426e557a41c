import { assert, describe, expect, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { type Json, Person } from "../support/Person.js"
import { cellOf, writeAll } from "../support/Cells.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`

describe.skipIf(!hasBrowser())(`the whole matrix${why}`, () => {
  it("keeps a reference one, shows what it refers to, and says why a key that others refer to stays", async () => {
    const ada = await Person.login("refers@example.com")
    await ada.organization("references", { dev: { HOST: "db.internal", URL: "to be replaced" } })
    const visit = await Visit.open("/references/webshop", ada)
    const openEditor = async (key: string) => {
      await cellOf(visit, key, "dev").click()
      await visit.page.locator(".matrix-panel").getByRole("button", { name: "Edit" }).click()
    }
    await openEditor("URL")
    await visit.page.getByLabel("Refers to other secrets").check()
    await visit.page.locator("#matrix-editor").fill("https://${HOST}/a")
    await visit.isAccessible("editor of a reference")
    await visit.press("Stage")
    await writeAll(visit, "dev")
    const path = "/api/orgs/references/projects/webshop/envs/dev/secrets/URL"
    assert.deepInclude(await ada.call("GET", path), { value: "https://db.internal/a", kind: "reference" })
    await openEditor("URL")
    await visit.press("Begin with the current value")
    await expect.poll(() => visit.page.locator("#matrix-editor").inputValue()).toBe("https://${HOST}/a")
    await visit.page.locator("#matrix-editor").fill("https://${HOST}/b")
    await visit.press("Stage")
    await writeAll(visit, "dev")
    assert.deepInclude(await ada.call("GET", path), { value: "https://db.internal/b", kind: "reference" })
    await cellOf(visit, "HOST", "dev").click()
    await visit.page.locator(".matrix-panel").getByRole("button", { name: "Delete" }).click()
    await visit.press("Review and write")
    await visit.sees("URL refers to secret HOST")
    await visit.page.goto(`${new URL(visit.page.url()).origin}/references/webshop/HOST?env=dev`)
    await visit.sees("It is part of the values of")
    await visit.isAccessible("references of a secret")
    await visit.page.getByRole("link", { name: "URL" }).click()
    await visit.sees("Its value is made of")
    await visit.close()
  }, 120_000)

  it("draws 2,000 keys of 6 environments a few rows at a time", async () => {
    const ada = await Person.login("many@example.com")
    const names = Array.from({ length: 2_000 }, (_, index) => `KEY_${String(index).padStart(4, "0")}`)
    await ada.organization("many")
    for (const name of ["preview", "demo", "perf"]) {
      await ada.call("POST", "/api/orgs/many/projects/webshop/envs", { name })
    }
    for (const env of ["dev", "staging", "prod", "preview", "demo", "perf"]) {
      const set = Object.fromEntries(names.map((name, index) => [name, index % 7 === 0 ? env : "same"]))
      await ada.call("PATCH", `/api/orgs/many/projects/webshop/envs/${env}/bundle`, { set })
    }
    const visit = await Visit.open("/many/webshop", ada)
    await visit.page.getByRole("grid").press("Control+End")
    await visit.sees("KEY_1999")
    assert.isBelow(await visit.page.getByRole("row").count(), 60)
    const frames: ReadonlyArray<number> = await visit.page.evaluate(`new Promise((resolve) => {
      const scroller = document.querySelector(".matrix-scroller")
      const frames = []
      let before = performance.now()
      scroller.scrollTop = 0
      const step = (now) => {
        frames.push(now - before)
        before = now
        scroller.scrollTop += 300
        if (frames.length < 90) requestAnimationFrame(step)
        else resolve(frames.slice(1))
      }
      requestAnimationFrame(step)
    })`)
    const median = [...frames].sort((a, b) => a - b)[44] ?? 0
    // A frame of 60 a second takes 16.7 ms; a busy machine draws fewer.
    assert.isBelow(median, 50, `median frame of ${JSON.stringify(frames.map(Math.round))}`)
    await visit.close()
  }, 120_000)

  it("can be used by the keyboard alone, and its keys are found by name", async () => {
    const ada = await Person.login("keyboard@example.com")
    await ada.organization("keyboards", { dev: { ALPHA: "1", BETA: "2" }, prod: { ALPHA: "3" } })
    const secrets = "/api/orgs/keyboards/projects/backend/envs/prod/bundle"
    await ada.call("POST", "/api/orgs/keyboards/projects", { name: "backend" })
    await ada.call("PATCH", secrets, { set: { KEY_ELSEWHERE: "4" } })
    const visit = await Visit.open("/keyboards/webshop", ada)
    const { keyboard } = visit.page
    await visit.page.getByRole("grid").focus()
    await visit.isAccessible("matrix")
    await keyboard.press("Control+End")
    await keyboard.press("Enter")
    await keyboard.type("typed")
    await keyboard.press("Enter")
    await keyboard.press("ArrowUp")
    await keyboard.press("Delete")
    const state: Json = await visit.page.evaluate(
      `[...document.querySelectorAll("[role=gridcell] .hidden")].map((one) => one.textContent).filter((one) => one.includes("staged"))`
    )
    assert.deepStrictEqual(state, [
      "ALPHA in prod: version 1, staged for removal",
      "BETA in prod: missing, new value staged"
    ])
    await visit.isAccessible("staged")
    await keyboard.press("Control+z")
    await visit.sees("1 change staged")
    await keyboard.press("Control+k")
    await visit.page.getByRole("combobox", { name: "A place, a key or an action" }).waitFor()
    await keyboard.type("beta")
    await visit.page.getByRole("option", { name: "BETA key of webshop" }).waitFor()
    await visit.isAccessible("palette")
    await keyboard.press("Control+a")
    await keyboard.type("elsewh")
    await visit.page.getByRole("option", { name: "KEY_ELSEWHERE key of backend" }).waitFor()
    await keyboard.press("Control+a")
    await keyboard.type("beta")
    await visit.page.getByRole("option", { name: "BETA key of webshop" }).waitFor()
    // The staged change is listed before the existing keys.
    await keyboard.press("ArrowDown")
    await keyboard.press("Enter")
    await visit.page.getByRole("heading", { name: "BETA" }).waitFor()
    await visit.sees("current")
    await visit.isAccessible("secret")
    await visit.page.getByRole("link", { name: "Promote" }).click()
    await visit.sees("From")
    await visit.isAccessible("promote")
    await visit.close()
  })
})
