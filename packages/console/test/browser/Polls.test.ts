import { assert, describe, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { Person } from "../support/Person.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`

describe.skipIf(!hasBrowser())(`polls${why}`, () => {
  it("send nothing again that has not changed, and show what has", async () => {
    const ada = await Person.login("ada@polls.example.com")
    await ada.organization("polls", { dev: { API_KEY: "1" } })
    await ada.call("POST", "/api/orgs/polls/members", { email: "bob@polls.example.com", role: "developer" })
    const bob = await Person.login("bob@polls.example.com")
    await bob.accept()
    const visit = await Visit.open("/polls/-/approvals", ada)
    const path = /\/api\/orgs\/polls\/(?:approvals|requests)(?:\?|$)/
    const again = async () =>
      (await visit.page.waitForResponse((response) => path.test(response.url()) && response.status() === 304)).url()
    const found = [await again(), await again()]
    assert.isNotEmpty(found)
    const asks = { kind: "access", project: "webshop", env: "dev", permission: "read", reason: "to look" }
    await bob.call("POST", "/api/orgs/polls/requests", { ...asks, expires_in: 3_600 })
    await visit.sees("to look")
    await visit.close()
  })
})
