import { afterAll, assert, beforeAll, describe, inject, it } from "vitest"
import type { CDPSession } from "playwright-core"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { codeFor, codesFor, type Json, Person } from "../support/Person.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`
const address = "passkeys@example.com"

describe.skipIf(!hasBrowser())(
  `a passkey${why}`,
  () => {
    let ada: Person
    let visit: Visit
    let devices: CDPSession
    let authenticatorId: string

    beforeAll(async () => {
      ada = await Person.login(address)
      await ada.organization("passkeys")
      visit = await Visit.open("/-/account", ada)
      devices = await visit.context.newCDPSession(visit.page)
      await devices.send("WebAuthn.enable")
      const options = {
        ...({ protocol: "ctap2", transport: "internal", hasResidentKey: true } as const),
        ...{ hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true }
      }
      ;({ authenticatorId } = await devices.send("WebAuthn.addVirtualAuthenticator", { options }))
    })

    afterAll(async () => {
      await visit.close()
    })

    const { url } = inject("server")

    /** A session after a new login by a code, which proves nothing for who has a passkey. An address gets few codes. */
    let fresh: Person

    const become = ({ token }: Person) =>
      visit.context.addCookies([{ name: "coffer", value: token, url, httpOnly: true, sameSite: "Strict" }])

    const isVerified = (isUserVerified: boolean) =>
      devices.send("WebAuthn.setUserVerified", { authenticatorId, isUserVerified })

    const recovery = async () => (await ada.call("GET", "/api/orgs/passkeys")).passkey_recovery

    it("is registered under My account, and shown there", async () => {
      await visit.sees("There are none.")
      await isVerified(false)
      await visit.press("Register a passkey")
      await visit.fill("Name of the passkey", "laptop")
      await visit.confirm("Register")
      await visit.sees("o passkey was used")
      await isVerified(true)
      await visit.confirm("Register")
      await visit.page.getByRole("row", { name: /laptop/ }).waitFor()
      await visit.press("Register a passkey")
      await visit.fill("Name of the passkey", "again")
      await visit.confirm("Register")
      await visit.sees("holds a passkey of yours already")
      await visit.isAccessible("a passkey that is registered already")
      await visit.fill("Name of the passkey", "")
      await visit.page.keyboard.press("Escape")
      await visit.isAccessible("my account with a passkey")
    })

    it("is asked for where a recent login is needed, and a code is not enough", async () => {
      fresh = await Person.login(address)
      await become(fresh)
      await visit.page.goto(`${url}/passkeys/-/settings`)
      await visit.page.getByLabel("Members remove a passkey that they have lost").selectOption({ index: 1 })
      await isVerified(false)
      await visit.press("Save how passkeys are recovered")
      await visit.press("Use your passkey")
      await visit.sees("o passkey was used")
      await visit.page.getByText("You have lost it").click()
      const before = codesFor(address).length
      await visit.isAccessible("the dialog for a passkey")
      await visit.press(`Send a code to ${address}`)
      await visit.fill(/^Code from the mail/, await codeFor(address, before))
      await visit.press("Log in")
      // Asked again: the code has proven nothing.
      await visit.page.getByRole("button", { name: "Log in" }).waitFor({ state: "detached" })
      assert.strictEqual(await recovery(), "login")
      await isVerified(true)
      await visit.press("Use your passkey")
      await visit.page.locator("dialog").waitFor({ state: "detached" })
      await visit.page.waitForFunction(() => document.querySelector("select:disabled") === null)
      assert.strictEqual(await recovery(), "none")
    })

    it("proves the session of a terminal that asks for it", async () => {
      const post = async (path: string, body: object): Promise<Json> => {
        const headers = { "content-type": "application/json", "x-real-ip": "198.18.1.1" }
        const answer = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) })
        return answer.json()
      }
      const before = codesFor(address).length
      await post("/api/auth/login", { email: address })
      const code = await codeFor(address, before)
      const { token } = await post("/api/auth/verify", { email: address, code, machine: "adas-laptop" })
      const authorization = { authorization: `Bearer ${token}` }
      const body = JSON.stringify({ passkey_recovery: "none" })
      const change = async () => {
        const headers = { ...authorization, "content-type": "application/json" }
        const answer = await fetch(`${url}/api/orgs/passkeys`, { method: "PATCH", headers, body })
        return answer.status
      }
      assert.strictEqual(await change(), 403)
      const sessions: Json = await (await fetch(`${url}/api/auth/sessions`, { headers: authorization })).json()
      const { id } = sessions.data.find(({ current }: Json) => current)
      await visit.page.goto(`${url}/-/account?session=${id}`)
      await visit.sees("Prove the session of a program on adas-laptop")
      await visit.isAccessible("the page for a terminal")
      await visit.press("Prove it with your passkey")
      await visit.sees("It is proven")
      assert.strictEqual(await change(), 200)
    })

    it("is removed without it only where every organization of the person lets a login do that", async () => {
      const own = visit.page.getByRole("row", { name: /^laptop/ })
      await become(fresh)
      await visit.page.goto(`${url}/-/account`)
      await own.waitFor()
      await visit.press("Remove the passkey laptop")
      await visit.sees("It is your last passkey")
      await visit.isAccessible("the removal of a passkey")
      const remove = visit.page.locator("dialog").getByRole("button", { name: "Remove", exact: true })
      await remove.click()
      await visit.sees("rganization passkeys wants a proof with a passkey")
      await ada.call("PATCH", "/api/orgs/passkeys", { passkey_recovery: "login" })
      await remove.click()
      await own.waitFor({ state: "detached" })
    })
  },
  120_000
)
