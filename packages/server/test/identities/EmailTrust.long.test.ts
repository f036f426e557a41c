import type { EmailTrust } from "@coffer/server/base/config/IdentitySettings"
import { addressIn, isComplete } from "@coffer/server/directory/identities/EmailTrust"
import { assert, describe, it } from "vitest"
import { type EntraPerson, entraToken } from "../support/EntraTokens.js"
import { assertRefused, logIn, newestEntry, userOf, type World, world } from "./World.js"

const email = "ada@example.com"

/** Logs in with tokens as Entra sends them. Its userinfo endpoint has no `email_verified` either. */
const logInAs = (here: World, sub: string, person: EntraPerson, info: { email_verified?: boolean } = {}) => {
  here.provider.forge = entraToken(person)
  return logIn(here, { sub, ...(typeof person.email === "string" && { email: person.email }), ...info })
}

const notVerified = /not verified at Test &amp; Co/

describe("a login by Entra's claims", () => {
  it("is refused unless the operator says what verifies an address", async () => {
    const here = await world()
    await assertRefused(await logInAs(here, "ada", { email, xms_edov: true }), notVerified)
    await assertRefused(await logInAs(here, "ada", { email, preferred_username: email }), notVerified)
  })

  it("takes an address that xms_edov verifies, and no other", async () => {
    const here = await world({ SERVICE_OIDC_EMAIL_TRUST: "edov" })
    for (const [sub, person] of [
      ["root", { email: "root@example.com" }],
      ["root", { email: "root@example.com", xms_edov: false }],
      ["root", { email: "root@example.com", xms_edov: "0" }],
      ["root", { email: "root@example.com", xms_edov: true, email_verified: false }],
      ["root", { email: "root@example.com", xms_edov: true, email_verified: "true" }],
      ["root", { email: "root@example.com", xms_edov: true, email_verified: null }],
      ["eve", { email: "grace@example.com", xms_edov: 2 }]
    ] as const) {
      await assertRefused(await logInAs(here, sub, person), notVerified)
    }
    assert.deepStrictEqual((await newestEntry(here)).metadata, { method: "oidc", reason: "not_verified" })
    // The name that people log in with at Entra is no address.
    await assertRefused(await logInAs(here, "root", { preferred_username: "root@example.com" }), /gave no e-mail/)
    const { page, reader } = await logInAs(here, "ada", { email, xms_edov: true })
    assert.strictEqual(page.status, 200, page.text)
    const ada = await userOf(reader)
    assert.strictEqual(ada.email, email)
    // The same person, whose address has changed since.
    const again = await logInAs(here, "ada", { email: "lovelace@example.com", xms_edov: "1" })
    assert.deepStrictEqual(await userOf(again.reader), ada)
  })

  it("takes addresses of the allowed domains as an operator says who owns the tenant", async () => {
    const here = await world({ SERVICE_OIDC_EMAIL_TRUST: "domains", SERVICE_OIDC_ALLOWED_DOMAINS: "example.com" })
    await assertRefused(await logInAs(here, "eve", { email: "ada@example.org" }), /addresses of this domain/i)
    await assertRefused(await logInAs(here, "eve", { email: "ada@dev.example.com" }), /addresses of this domain/i)
    await assertRefused(await logInAs(here, "eve", { email, email_verified: false }), notVerified)
    await assertRefused(await logInAs(here, "eve", { email }, { email_verified: false }), notVerified)
    const { page, reader } = await logInAs(here, "ada", { email })
    assert.strictEqual(page.status, 200, page.text)
    assert.strictEqual((await userOf(reader)).email, email)
  })
})

describe("an address", () => {
  const verdict = (trust: EmailTrust, token: Readonly<Record<string, unknown>>, info = token) =>
    addressIn(trust, token, info).isVerified

  it("is verified by email_verified alone where a provider sends it, whatever the operator trusts", () => {
    for (const trust of ["verified", "edov", "domains"] as const) {
      for (const [claim, expected] of [
        [true, true],
        [false, false],
        ["true", false],
        [1, false],
        [null, false]
      ] as const) {
        assert.strictEqual(verdict(trust, { email, email_verified: claim, xms_edov: true }), expected)
        assert.strictEqual(verdict(trust, {}, { email, email_verified: claim, xms_edov: true }), expected)
      }
      assert.isFalse(verdict(trust, { email_verified: false }, { email, xms_edov: true }))
      assert.isFalse(verdict(trust, { email_verified: true }, { email, xms_edov: true }))
    }
  })

  it("and what verifies it come from the same source", () => {
    assert.isFalse(verdict("edov", { xms_edov: true }, { email }))
    assert.isTrue(verdict("edov", { email, xms_edov: true }, {}))
    assert.deepStrictEqual(addressIn("edov", { email }, {}), { email: null, isVerified: false })
    assert.deepStrictEqual(addressIn("domains", { email }, {}), { email, isVerified: true })
    assert.deepStrictEqual(addressIn("domains", { email: 7 }, {}), { email: null, isVerified: true })
  })

  it("is looked for at the userinfo endpoint unless the token says all of it", () => {
    assert.isTrue(isComplete("edov", { email, xms_edov: false }))
    for (const trust of ["verified", "domains"] as const) assert.isFalse(isComplete(trust, { email, xms_edov: true }))
    for (const trust of ["verified", "edov", "domains"] as const) {
      assert.isTrue(isComplete(trust, { email, email_verified: false }))
      assert.isFalse(isComplete(trust, { email }))
      assert.isFalse(isComplete(trust, { email_verified: true, xms_edov: true }))
    }
  })
})
