import { assert, describe, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { type Json, Person } from "../support/Person.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`

describe.skipIf(!hasBrowser())(`the members page${why}`, { timeout: 120_000 }, () => {
  it("shows who has no access yet, who was invited, and what a person may do where", async () => {
    const ada = await Person.login("invites@example.com")
    await ada.organization("inviting", {})
    await ada.call("POST", "/api/orgs/inviting/members", { email: "invited@example.com", role: "developer" })
    const visit = await Visit.open("/inviting/-/members", ada)
    const row = visit.page.getByRole("row", { name: /invited@example.com/ })
    await row.getByText("no access yet").waitFor()
    await row.getByText("invited", { exact: true }).waitFor()
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

  it("stand behind an invitation until it is accepted or declined, and may be left later", async () => {
    const ada = await Person.login("asks-in@example.com")
    await ada.organization("asking-in", {})
    const body = { email: "asked-in@example.com", role: "developer" }
    await ada.call("POST", "/api/orgs/asking-in/members", body)
    const accepted = async () => {
      const { data } = await ada.call("GET", "/api/orgs/asking-in/members")
      return data.find(({ email }: Json) => email === body.email)?.accepted
    }
    const person = await Person.login(body.email)
    const visit = await Visit.open("/asking-in/-/members", person, { accepts: false })
    await visit.sees("You were invited to asking-in")
    await visit.sees("You get the role developer. Sees projects. Reads and writes what rules allow.")
    await visit.sees("the invitation ends, and you get no access and no more mails")
    await visit.isAccessible("an invitation")
    // Neither the page nor the search of all organizations.
    await visit.page.keyboard.press("Control+k")
    await visit.page.getByRole("combobox", { name: "A place, a key or an action" }).fill("webshop")
    await visit.sees("Nothing that you may see has this name")
    await visit.page.keyboard.press("Escape")
    assert.isFalse(await accepted())
    await visit.press("Accept")
    await visit.page.getByRole("heading", { name: /^Members/ }).waitFor()
    assert.isTrue(await accepted())

    await visit.page.getByRole("link", { name: "Coffer" }).click()
    await visit.press("Leave asking-in")
    await visit.page.locator("dialog[open]").getByRole("button", { name: "Leave", exact: true }).click()
    await visit.sees("Welcome to Coffer")
    assert.isUndefined(await accepted())
    await ada.call("POST", "/api/orgs/asking-in/members", body)
    await visit.page.reload()
    await visit.page.getByRole("cell", { name: "developer invited" }).waitFor()
    await visit.press("Decline asking-in")
    await visit.page.locator("dialog[open]").getByRole("button", { name: "Decline", exact: true }).click()
    await visit.sees("Welcome to Coffer")
    await visit.close()
  })

  it("names to a person without access whom to ask", async () => {
    const ada = await Person.login("grants@example.com")
    await ada.organization("asking", {})
    await ada.call("POST", "/api/orgs/asking/members", { email: "asks@example.com", role: "developer" })
    const visit = await Visit.open("/asking", await Person.login("asks@example.com"))
    await visit.sees("You have no access to secrets of asking yet")
    await visit.page.getByRole("link", { name: "grants@example.com" }).waitFor()
    await visit.isAccessible("a home without access")
    await ada.call("POST", "/api/orgs/asking/acl", {
      ...{ subject_type: "user", email: "asks@example.com", permission: "read" },
      ...{ project_pattern: "webshop", env_pattern: "dev" }
    })
    await visit.page.reload()
    await visit.page.getByRole("link", { name: "webshop" }).first().waitFor()
    assert.strictEqual(await visit.page.getByText("You have no access").count(), 0)
    await visit.close()
  })

  it("invites the people of a CSV file, after it has shown the plan, and nobody twice", async () => {
    const ada = await Person.login("many@example.com")
    await ada.organization("inviting-many", {})
    await ada.call("POST", "/api/orgs/inviting-many/members", { email: "known@example.com", role: "member" })
    const visit = await Visit.open("/inviting-many/-/members", ada)
    await visit.press("Invite many by CSV")
    await visit.fill("The people, as CSV", "email,role\nnobody,\nnew@example.com,king\n")
    await visit.sees("Line 2: The e-mail address must be one such as ada@example.com.")
    await visit.sees("Line 3: The role must be one of owner, admin, developer, member.")
    await visit.isAccessible("a file of people with mistakes")
    await visit.fill(
      "The people, as CSV",
      'email,role,rules\nnew@example.com,,"webshop/{dev,staging}:write"\nknown@example.com,admin,\n'
    )
    const row = visit.page.getByRole("row", { name: "known@example.com is member already" })
    await row.waitFor()
    await visit.page.getByRole("row", { name: "new@example.com developer webshop/{dev,staging}:write" }).waitFor()
    await visit.isAccessible("a plan of invitations")
    await visit.press("Invite 1")
    await visit.page.getByRole("dialog").waitFor({ state: "detached" })
    await visit.page.getByRole("row", { name: /^new@example.com/ }).waitFor()
    const { data } = await ada.call("GET", "/api/orgs/inviting-many/acl")
    assert.deepStrictEqual([data.length, data[0].email, data[0].permission], [1, "new@example.com", "write"])
    await visit.close()
  })

  it("gives people access by a group, for a while", async () => {
    const ada = await Person.login("groups@example.com")
    await ada.organization("grouped", { dev: { KEY: "1" } })
    await ada.call("POST", "/api/orgs/grouped/members", { email: "grace@example.com", role: "developer" })
    const visit = await Visit.open("/grouped/-/groups", ada)
    await visit.sees("There are no groups yet")
    await visit.press("New group")
    await visit.fill("Name of the group", "Back end")
    await visit.isAccessible("a new group")
    await visit.confirm("Create")
    const row = visit.page.getByRole("row", { name: /^Back end/ })
    await row.getByText("no rule yet").waitFor()
    assert.strictEqual(await visit.page.locator("dialog").count(), 0)
    await row.getByRole("link", { name: "Back end" }).click()
    assert.match(new URL(visit.page.url()).search, /^\?group=/)
    await visit.page.getByLabel("Person").selectOption("grace@example.com")
    await visit.press("Add to the group")
    await visit.page
      .getByRole("dialog")
      .getByRole("row", { name: /^grace@example.com/ })
      .waitFor()
    await visit.isAccessible("members of a group")
    await visit.page.keyboard.press("Escape")
    const eng = { provider_group: "cn=eng,dc=example,dc=com", group: "Back end" }
    await ada.call("PUT", "/api/orgs/grouped/group-mappings", { mappings: [eng] })
    await visit.page.reload()
    await visit.sees("The server takes no groups from its provider of single sign-on")
    await visit.fill("Group at the provider", "sre")
    await visit.press("Add mapping")
    await visit.page.getByRole("row", { name: "sre Back end" }).waitFor()
    await visit.isAccessible("groups")
    for (const name of ["sre", eng.provider_group]) {
      await visit.press(`Remove ${name} as Back end`)
      await visit.confirm("Remove the mapping")
    }
    await visit.page.getByRole("heading", { name: "Groups at the provider" }).waitFor({ state: "detached" })

    await visit.page.getByRole("link", { name: "Rules" }).first().click()
    await visit.press("New rule")
    await visit.page.getByLabel("Who").selectOption("group Back end")
    await visit.fill("Projects", "web*")
    await visit.fill("Environments", "dev")
    await visit.page.getByLabel("Ends").selectOption("at a date")
    await visit.fill("Date of the end", "2030-02-30")
    assert.isTrue(await visit.page.getByRole("button", { name: "Grant read" }).isDisabled())
    await visit.page.getByLabel("Ends").selectOption("in 8 hours")
    await visit.isAccessible("a rule that ends")
    await visit.press("Grant read")
    await visit.page.getByRole("row", { name: /^Back end group web\*\/dev read in 8 hours/ }).waitFor()
    const { data } = await ada.call("GET", "/api/orgs/grouped/acl")
    assert.closeTo(Date.parse(data[0].expires_at) - Date.now(), 8 * 3_600_000, 60_000)

    await visit.page.getByRole("link", { name: "Members" }).first().click()
    await visit.press("Access of grace@example.com")
    const reason = /^webshop\/dev read rule web\* \/ dev, of the group Back end, until \d{4}-/
    await visit.page.getByRole("row", { name: reason }).waitFor()
    await visit.page.keyboard.press("Escape")
    await visit.press("Explain the access of grace@example.com")
    await visit.sees("by a rule of the group Back end")
    await visit.close()
  })
})
