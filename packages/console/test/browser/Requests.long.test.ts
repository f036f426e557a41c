import { assert, describe, expect, inject, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { cellOf, edit } from "../support/Cells.js"
import { tabTo } from "../support/Keyboard.js"
import { Person } from "../support/Person.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`

const org = "votes"
const api = `/api/orgs/${org}`
const envs = `${api}/projects/webshop/envs`
const key = `${envs}/prod/secrets/API_KEY`
const of = (name: string) => `${name}@votes.example.com`

/** An owner who may break the glass, an admin, a developer who may write, and a member without any access. */
const makePeople = async () => {
  const ada = await Person.login(of("ada"))
  await ada.organization(org, { dev: { API_KEY: "1" }, staging: { API_KEY: "2" }, prod: { API_KEY: "canary-old" } })
  for (const [name, role] of [
    ["grace", "admin"],
    ["bob", "developer"],
    ["carl", "developer"]
  ] as const) {
    await ada.call("POST", `${api}/members`, { email: of(name), role })
  }
  await ada.call("POST", `${api}/acl`, {
    ...{ subject_type: "user", email: of("bob"), permission: "admin" },
    ...{ project_pattern: "webshop", env_pattern: "*" }
  })
  const [grace, bob, carl] = await Promise.all(["grace", "bob", "carl"].map((name) => Person.login(of(name))))
  // Only then, they count as voters.
  for (const person of [grace, bob, carl]) await person?.accept()
  return { ada, grace: grace ?? ada, bob: bob ?? ada, carl: carl ?? ada }
}

let people: ReturnType<typeof makePeople> | undefined
const everybody = () => (people ??= makePeople())

const dialog = (visit: Visit) => visit.page.locator("dialog[open]").last()

const open = (visit: Visit, path: string) => visit.page.goto(inject("server").url + path)

describe.skipIf(!hasBrowser())(`requests${why}`, { timeout: 180_000 }, () => {
  it("protects an environment, and has a change wait until another person approves it", async () => {
    const { ada, bob, grace } = await everybody()
    const owner = await Visit.open(`/${org}/webshop/-/settings`, ada)
    await owner.press("Protect of the environment prod")
    await owner.fill("Break glass", of("ada"))
    await owner.fill("A request waits", "soon")
    await owner.sees(/must be a time such as 90m/)
    await owner.isAccessible("a protection with a mistake")
    await owner.fill("A request waits", "48h")
    await dialog(owner).getByRole("button", { name: "Protect", exact: true }).click()
    const row = owner.page.getByRole("row", { name: /prod protected/ })
    await row.waitFor()
    await owner.press("Protection of the environment prod")
    await owner.sees(/needs one person of the admins and owners/)
    await owner.isAccessible("a protection that exists")
    await owner.close()

    const visit = await Visit.open(`/${org}/webshop`, bob)
    await visit.page.getByRole("columnheader", { name: "prod protected" }).waitFor()
    await edit(visit, "API_KEY", "dev", "changed-dev")
    await edit(visit, "API_KEY", "prod", "canary-new")
    await visit.press("Review and write")
    await visit.sees(/prod is protected: the change becomes a request, and is made once /)
    await visit.isAccessible("a review of a protected environment")
    await visit.press("Write to dev, prod")
    await dialog(visit).getByText("once one person of the admins and owners has approved it").waitFor()
    assert.strictEqual(await visit.page.getByRole("button", { name: "Break glass" }).count(), 0)
    await visit.isAccessible("the request of a change")
    await visit.fill("Reason (optional)", "INC-12")
    await visit.page.keyboard.press("Enter")
    await visit.sees("Your request for webshop/prod waits for approval; nothing was changed yet.")
    await visit.sees("Written to dev")
    assert.strictEqual(await visit.page.getByText("1 change staged").count(), 0)
    assert.deepInclude(await ada.call("GET", `${envs}/dev/secrets/API_KEY`), { value: "changed-dev" })
    assert.deepInclude(await ada.call("GET", key), { value: "canary-old" })
    await visit.isAccessible("a matrix with a request")
    await tabTo(visit, "See the request")
    await visit.page.keyboard.press("Enter")
    await visit.sees("INC-12")
    await visit.page.getByRole("button", { name: "Withdraw your request for webshop/prod" }).waitFor()
    assert.strictEqual(await visit.page.getByRole("button", { name: /^Approve/ }).count(), 0)
    assert.strictEqual(await visit.page.getByText("waits for approval").count(), 0)
    await visit.isAccessible("the page of one's own request")
    assert.notInclude(await visit.page.content(), "canary-")

    const other = await Visit.open(`/${org}`, grace)
    const tab = other.page.getByRole("link", { name: "Requests 1 waiting" })
    await tab.waitFor()
    assert.strictEqual(await other.page.title(), `(1) ${org} · Coffer`)
    await tab.press("Enter")
    await other.sees("v1 → v2")
    assert.notInclude(await other.page.content(), "canary-")
    await tabTo(other, `Reveal the values of the request of ${of("bob")}`)
    await other.page.keyboard.press("Enter")
    await other.page.locator("output").getByText("canary-new").waitFor()
    await other.isAccessible("the revealed values of a request")
    await other.page.getByRole("link", { name: "Members" }).click()
    await other.page.getByRole("heading", { name: "Members", exact: true }).waitFor()
    assert.notInclude(await other.page.content(), "canary-")
    await other.page.goBack()
    await other.sees("v1 → v2")
    assert.notInclude(await other.page.content(), "canary-")
    await tabTo(other, `Approve the request of ${of("bob")}`)
    await other.page.keyboard.press("Enter")
    await other.sees("Approved: webshop/prod was changed.")
    await expect.poll(() => other.page.evaluate("document.activeElement.id")).toBe("page")
    await other.page.getByRole("link", { name: "Requests", exact: true }).waitFor()
    assert.deepInclude(await ada.call("GET", key), { value: "canary-new", version: 2 })
    await other.page.getByLabel("Show").selectOption("done")
    await other.sees("It made revision 2")
    await other.isAccessible("requests that are done")
    await other.close()
    await visit.page.locator(".approvals-one.named .badge.good").waitFor()
    await visit.close()
  })

  it("lets a person ask for access, and says what became of a request", async () => {
    const { ada, carl, grace } = await everybody()
    const visit = await Visit.open(`/${org}/webshop`, carl)
    await visit.sees("You have no access to webshop yet")
    await visit.press("Ask for access…")
    await visit.page.getByLabel("Environment").selectOption("prod")
    assert.strictEqual(await visit.page.getByLabel("Permission").inputValue(), "read")
    await visit.page.getByLabel("For", { exact: true }).selectOption("8 hours")
    await visit.isAccessible("asking for access")
    await visit.fill("Reason", "to look")
    await visit.page.keyboard.press("Enter")
    await visit.page.getByRole("link", { name: "See the request" }).click()
    await visit.press("Withdraw your request for webshop/prod")
    await visit.confirm("Withdraw")
    await visit.sees("Withdrawn: your request for webshop/prod has ended.")
    const ask = (permission: string) =>
      carl.call("POST", `${api}/requests`, {
        ...{ kind: "access", project: "webshop", env: "prod", permission },
        ...{ expires_in: 3600, reason: `to ${permission}` }
      })
    const [read, write] = [await ask("read"), await ask("write")]

    const voter = await Visit.open(`/${org}/-/approvals?id=${read.id}`, grace)
    await voter.page.locator(".approvals-one.named").getByText("read for 1 hour in").waitFor()
    await voter.page
      .locator(".approvals-one.named")
      .getByRole("button", { name: /^Approve/ })
      .click()
    await voter.sees("Approved: the access to webshop/prod begins.")
    await open(voter, `/${org}/-/approvals?id=${write.id}`)
    await voter.page
      .locator(".approvals-one.named")
      .getByRole("button", { name: /^Refuse/ })
      .click()
    await voter.page.locator("dialog").getByLabel("Comment (optional)").fill("not before the release")
    await voter.isAccessible("a refusal with a comment")
    await voter.confirm("Refuse")
    await voter.sees("has ended.")
    const refused = await ada.call("GET", `/api/orgs/${org}/requests/${write.id}`)
    assert.deepInclude(refused.votes[0], { vote: "refuse", comment: "not before the release" })
    await voter.close()

    await open(visit, `/${org}/webshop`)
    await cellOf(visit, "API_KEY", "prod").click()
    await visit.page.locator(".matrix-panel").getByRole("button", { name: "Reveal" }).click()
    await visit.sees("canary-new")
    await cellOf(visit, "API_KEY", "dev").click()
    await visit.sees("You may not read this environment")
    await visit.isAccessible("a cell without access")
    await visit.close()
  })
})
