import { describe, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { Person } from "../support/Person.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`

describe.skipIf(!hasBrowser())(`the palette${why}`, { timeout: 60_000 }, () => {
  it("gets what is typed before its script is loaded, and the page beneath does not", async () => {
    const ada = await Person.login("early@example.com")
    await ada.organization("early", { dev: { STRIPE_KEY: "1" } })
    const visit = await Visit.open("/-/account", ada)
    await visit.page.route("**/Palette-*.js", async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 2_000))
      await route.continue()
    })
    await visit.page.goto(`${new URL(visit.page.url()).origin}/early/webshop`)
    await visit.page.getByRole("grid").focus()
    await visit.page.keyboard.press("Control+k")
    await visit.page.keyboard.type("?strx")
    await visit.page.keyboard.press("Backspace")
    await visit.page.keyboard.press("Home")
    await visit.page.keyboard.press("Enter")
    await visit.page.getByRole("combobox", { name: "A place, a key or an action" }).waitFor()
    await visit.page.getByText("Nothing that you may see has this name").waitFor()
    await visit.page.keyboard.press("Home")
    await visit.page.keyboard.press("Delete")
    await visit.page.getByRole("option", { name: "STRIPE_KEY key of webshop" }).waitFor()
    await visit.close()
  })

  it("searches again for keys where the server could not", async () => {
    const ada = await Person.login("again@example.com")
    await ada.organization("again", { dev: { STRIPE_KEY: "1" } })
    const visit = await Visit.open("/again", ada)
    await visit.sees("Projects of again")
    let refusals = 0
    await visit.page.route("**/keys?*", (route) =>
      ++refusals <= 3
        ? route.fulfill({ status: 503, json: { error: { code: "OVERLOADED", message: "try again" } } })
        : route.continue()
    )
    await visit.page.keyboard.press("Control+k")
    await visit.page.getByRole("combobox", { name: "A place, a key or an action" }).fill("stripe")
    await visit.sees("The keys of again could not be searched yet")
    await visit.page.getByRole("option", { name: "STRIPE_KEY key of webshop" }).waitFor()
    await visit.page.getByText("could not be searched").waitFor({ state: "detached" })
    await visit.close()
  })
})
