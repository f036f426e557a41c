import { describe, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { Person } from "../support/Person.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`

describe.skipIf(!hasBrowser())(`the members page${why}`, { timeout: 120_000 }, () => {
  it("shows who has no access yet, who never logged in, and what a person may do where", async () => {
    const ada = await Person.login("invites@example.com")
    await ada.organization("inviting", {})
    await ada.call("POST", "/api/orgs/inviting/members", { email: "invited@example.com", role: "developer" })
    const visit = await Visit.open("/inviting/-/members", ada)
    const row = visit.page.getByRole("row", { name: /invited@example.com/ })
    await row.getByText("no access yet").waitFor()
    await row.getByText("never logged in").waitFor()
    await visit.isAccessible("members without access")
    await ada.call("POST", "/api/orgs/inviting/acl", {
      ...{ subject_type: "user", email: "invited@example.com", permission: "read" },
      ...{ project_pattern: "web*", env_pattern: "dev" }
    })
    await visit.press("Access of invited@example.com")
    await visit.page.getByRole("row", { name: "webshop/dev read rule web* / dev" }).waitFor()
    await visit.page.getByRole("row", { name: "webshop/prod none" }).waitFor()
    await visit.isAccessible("access of a person")
    await visit.close()
  })
})
