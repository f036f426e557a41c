import { assert, describe, expect, inject, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { tabTo, tabToField } from "../support/Keyboard.js"
import { codeFor, codesFor, type Json, Person } from "../support/Person.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`

const api = "/api/orgs/five-jobs"
const asking = { prefer: "respond-async" }

describe.skipIf(!hasBrowser())(`the five commonest jobs by the keyboard alone${why}`, { timeout: 180_000 }, () => {
  it("changes a value, invites, grants, approves, and finds who changed a key", async () => {
    const email = "by-keys@example.com"
    const ada = await Person.login(email)
    await ada.organization("five-jobs", { dev: { STRIPE_KEY: "old" }, prod: { STRIPE_KEY: "live" } })
    await ada.call("POST", `${api}/members`, { email: "asks-by-keys@example.com", role: "developer" })
    const hal = await Person.login("asks-by-keys@example.com")
    await hal.accept()
    const rule = { subject_type: "user", email: "asks-by-keys@example.com", project_pattern: "webshop" }
    await ada.call("POST", `${api}/acl`, { ...rule, env_pattern: "prod", permission: "write" })
    const prod = `${api}/projects/webshop/envs/prod`
    await ada.call("PUT", `${prod}/protection`, { needed: 1, approvers: "admins", self: true })
    await hal.call("PUT", `${prod}/secrets/STRIPE_KEY`, { value: "asked" }, asking)

    const visit = await Visit.open("/login?next=/five-jobs")
    const { page } = visit
    const { keyboard } = page
    const press = async (text: string | RegExp) => {
      await tabTo(visit, text)
      await keyboard.press("Enter")
    }
    const go = async (text: string, option: string | RegExp) => {
      await keyboard.press("Control+k")
      await page.getByRole("combobox", { name: "A place, a key or an action" }).waitFor()
      await keyboard.type(text)
      await page.getByRole("option", { name: option }).first().waitFor()
      await keyboard.press("Enter")
    }

    const before = codesFor(email).length
    await tabToField(visit, /E-?mail/i)
    await keyboard.type(email)
    await keyboard.press("Enter")
    const code = await codeFor(email, before)
    await page.getByLabel(/code/i).first().waitFor()
    await tabToField(visit, /code/i)
    await keyboard.type(code)
    await keyboard.press("Enter")
    await page.waitForURL(/five-jobs/)
    await visit.sees("Projects of five-jobs")

    await go("stripe", "STRIPE_KEY key of webshop")
    await page.getByRole("heading", { name: "STRIPE_KEY" }).waitFor()
    await press("Edit")
    await page.locator("#matrix-editor").waitFor()
    await keyboard.press("Control+a")
    await keyboard.type("new-by-keys")
    await keyboard.press("Enter")
    await press("Review and write")
    await press("Write to dev")
    await visit.sees("Written to")
    const stored = await ada.call("GET", `${api}/projects/webshop/envs/dev/secrets/STRIPE_KEY`)
    assert.strictEqual(stored.value, "new-by-keys")

    await go("members", /^Members five-jobs/)
    await page.getByRole("heading", { name: /^Members/ }).waitFor()
    await press("Invite")
    await page.getByRole("dialog").waitFor()
    await tabToField(visit, /address/i)
    await keyboard.type("invited-by-keys@example.com")
    await keyboard.press("Enter")
    await page.getByRole("row", { name: /invited-by-keys@example.com/ }).waitFor()

    await go("rules", /^Rules five-jobs/)
    await press("New rule")
    await tabToField(visit, /^Who/)
    await keyboard.type("invited")
    await tabToField(visit, /^Projects/)
    await keyboard.type("webshop")
    await tabToField(visit, /^Environments/)
    await keyboard.type("dev")
    await press("Grant read")
    await page.getByRole("dialog").waitFor({ state: "detached" })
    await visit.sees("invited-by-keys@example.com may read in webshop/dev.")

    await go("requests", /^Requests five-jobs/)
    await page.getByText("asks-by-keys@example.com").first().waitFor()
    await press(/^Approve/)
    const inProd = async () => (await ada.call("GET", `${prod}/secrets/STRIPE_KEY`)).value
    await expect.poll(inProd).toBe("asked")

    await go("audit", /^Audit five-jobs/)
    await page.getByRole("heading", { name: "Audit log" }).waitFor()
    await tabToField(visit, /^Key/)
    await keyboard.type("STRIPE_KEY")
    await keyboard.press("Enter")
    await page.waitForURL(/key=STRIPE_KEY/)
    await visit.sees(/by-keys@example.com (?:set|changed|wrote|updated).*STRIPE_KEY/)
    const { data } = await ada.call("GET", `${api}/audit-logs?key=STRIPE_KEY`)
    assert.isTrue(data.some(({ actor_name }: Json) => actor_name === email))
    assert.notInclude(await page.content(), "new-by-keys")
    assert.strictEqual(new URL(page.url()).origin, inject("server").url)
    await visit.close()
  })
})
