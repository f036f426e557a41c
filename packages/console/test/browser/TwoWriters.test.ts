import { assert, beforeAll, describe, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { type Json, Person } from "../support/Person.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`
const org = "two-writers"
const api = `/api/orgs/${org}`
const prod = `${api}/projects/webshop/envs/prod/protection`
const protection = { needed: 1, approvers: "owners", self: true, break_glass: [], passkey: false }

/** A form that writes over a whole record: what the other one stores meanwhile, and what the form shows and stores then. */
interface Form {
  readonly page: string
  readonly button: string
  readonly label: string
  readonly other: (ada: Person) => Promise<unknown>
  readonly shown: string
  readonly typed: string
  readonly stored: (ada: Person) => Promise<string>
}

const firstOf = async (ada: Person, records: string): Promise<Json> => {
  const { data } = await ada.call("GET", `${api}/${records}`)
  return data[0]
}

const forms: Readonly<Record<string, Form>> = {
  "a protection": {
    page: "webshop/-/settings",
    button: "Protection of the environment prod",
    label: "A request waits",
    other: (ada) => ada.call("PUT", prod, { ...protection, expires_after: "48h" }),
    shown: "48h",
    typed: "24h",
    stored: async (ada) => (await ada.call("GET", prod)).expires_after
  },
  "the networks of an account": {
    page: "-/accounts",
    button: "Networks of deploy",
    label: "It may call from",
    other: async (ada) => {
      const { id } = await firstOf(ada, "service-accounts")
      await ada.call("PATCH", `${api}/service-accounts/${id}`, { allowed_networks: ["198.51.100.0/24"] })
    },
    shown: "198.51.100.0/24",
    typed: "203.0.113.0/24",
    stored: async (ada) => (await firstOf(ada, "service-accounts")).allowed_networks.join()
  },
  "a webhook": {
    page: "-/webhooks",
    button: "Edit https://hooks.example.com/x",
    label: "Events",
    other: async (ada) => {
      const { id } = await firstOf(ada, "webhooks")
      await ada.call("PATCH", `${api}/webhooks/${id}`, { events: ["secret.*"] })
    },
    shown: "secret.*",
    typed: "member.*",
    stored: async (ada) => (await firstOf(ada, "webhooks")).events.join()
  }
}

describe.skipIf(!hasBrowser())(`of two writers, the second one${why}`, { timeout: 60_000 }, () => {
  let ada: Person
  beforeAll(async () => {
    ada = await Person.login("ada@two-writers.example.com")
    await ada.organization(org)
    await ada.call("PUT", prod, { ...protection, expires_after: "72h" })
    await ada.call("POST", `${api}/service-accounts`, { name: "deploy" })
    await ada.call("POST", `${api}/webhooks`, { url: "https://hooks.example.com/x", events: ["*"] })
  })

  for (const [name, { button, label, other, page, shown, stored, typed }] of Object.entries(forms)) {
    it(`is refused in the form of ${name}, and finds there what the first one stored when it is opened again`, async () => {
      const visit = await Visit.open(`/${org}/${page}`, ada)
      const field = visit.page.locator("dialog[open]").getByLabel(label)
      const save = () => visit.confirm("Save")
      await visit.press(button)
      await field.waitFor()
      await other(ada)
      await field.fill(typed)
      await save()
      await visit.sees("has changed since it was read: read it again")
      assert.strictEqual(await stored(ada), shown)
      assert.strictEqual(await field.inputValue(), typed)
      const read = visit.page.waitForResponse((response) => response.request().method() === "GET" && response.ok())
      await visit.confirm("Cancel")
      if (name !== "a protection") await read
      await visit.press(button)
      await field.waitFor()
      assert.strictEqual(await field.inputValue(), shown)
      await visit.close()
    })
  }
})
