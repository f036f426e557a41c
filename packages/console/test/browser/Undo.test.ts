import { assert, describe, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { type Json, Person } from "../support/Person.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`

const api = "/api/orgs/undoes"

describe.skipIf(!hasBrowser())(`after a change${why}`, { timeout: 60_000 }, () => {
  it("says what was done, and takes it back by one press", async () => {
    const ada = await Person.login("undoes@example.com")
    await ada.organization("undoes", { dev: { API_KEY: "1" } })
    await ada.call("POST", `${api}/members`, { email: "undone@example.com", role: "developer" })
    await ada.call("POST", `${api}/groups`, { name: "backend" })
    const hook = { url: "https://127.0.0.1:9/undo", events: ["secret.*"] }
    await ada.call("POST", `${api}/webhooks`, hook)
    const listed = async (path: string): Promise<ReadonlyArray<Json>> => (await ada.call("GET", `${api}${path}`)).data
    const visit = await Visit.open("/undoes/-/rules?new", ada)
    const { page } = visit
    const undo = async () => {
      await page.getByRole("button", { name: "Undo", exact: true }).click()
      await visit.sees("It was taken back.")
    }

    await page.getByLabel("Who").selectOption("undone@example.com")
    await visit.fill("Projects", "webshop")
    await visit.fill("Environments", "dev")
    await page.getByRole("button", { name: "Grant read" }).click()
    await visit.sees("undone@example.com may read in webshop/dev.")
    // The dialog has the same sentence before it writes.
    await page.getByRole("button", { name: "Undo", exact: true }).waitFor()
    assert.strictEqual((await listed("/acl")).length, 1)
    await visit.isAccessible("what was done, with its undo")
    await undo()
    assert.strictEqual((await listed("/acl")).length, 0)

    const end = "2034-01-01T00:00:00.000Z"
    const rule = { subject_type: "user", email: "undone@example.com", project_pattern: "web*", env_pattern: "dev" }
    await ada.call("POST", `${api}/acl`, { ...rule, permission: "write", expires_at: end })
    await page.reload()
    await visit.press(/^Revoke/)
    await visit.confirm("Revoke")
    await visit.sees("The rule of undone@example.com in web*/dev was revoked.")
    assert.strictEqual((await listed("/acl")).length, 0)
    await undo()
    assert.deepInclude((await listed("/acl"))[0], { ...rule, permission: "write", expires_at: end })
    await page.getByRole("row", { name: /undone@example.com web\*\/dev write/ }).waitFor()

    await page.getByRole("link", { name: "Members" }).click()
    await page.getByRole("heading", { name: "Members", exact: false, level: 1 }).waitFor()
    assert.strictEqual(await page.getByText("It was taken back.").count(), 0, "another page does not say it")
    await visit.press(/^Role of undone/)
    await page.getByRole("combobox", { name: "Role" }).selectOption("admin")
    await page.getByRole("button", { name: "Make undone@example.com admin" }).click()
    await visit.sees("undone@example.com is admin now.")
    await undo()
    const [, member] = (await listed("/members")).toSorted((a, b) =>
      a.email === "undone@example.com" ? 1 : b ? -1 : 0
    )
    assert.deepInclude(member, { email: "undone@example.com", role: "developer" })

    await page.goto(`${new URL(page.url()).origin}/undoes/-/webhooks`)
    await visit.press(/^Disable/)
    await visit.confirm("Disable")
    await visit.sees("https://127.0.0.1:9/undo is disabled.")
    await undo()
    assert.isTrue((await listed("/webhooks"))[0].enabled)
    await visit.close()
  })

  it("restores what was just deleted", async () => {
    const ada = await Person.login("restores@example.com")
    await ada.organization("restores", { dev: { API_KEY: "1" } })
    const visit = await Visit.open("/restores/webshop/-/settings", ada)
    const { page } = visit
    await visit.press("Delete the environment staging")
    await page.locator("#confirm-name").fill("staging")
    await visit.confirm("Delete")
    await visit.sees("The environment staging was deleted.")
    await page.getByRole("button", { name: "Undo", exact: true }).click()
    await page
      .getByRole("row", { name: /staging/ })
      .first()
      .waitFor()
    await visit.sees("It was taken back.")

    await visit.press("Delete the project webshop")
    await page.locator("#confirm-name").fill("webshop")
    await visit.confirm("Delete")
    await visit.sees("The project webshop was deleted.")
    await page.getByRole("button", { name: "Undo", exact: true }).click()
    await page.waitForURL("**/restores/webshop")
    await page.getByText("API_KEY").first().waitFor()

    await page.goto(`${new URL(page.url()).origin}/restores/-/settings`)
    await visit.press("Delete the organization restores")
    await page.locator("#confirm-name").fill("restores")
    await visit.confirm("Delete")
    await visit.sees("The organization restores was deleted.")
    await page.getByRole("button", { name: "Undo", exact: true }).click()
    await page.getByRole("link", { name: "restores" }).waitFor()
    assert.strictEqual((await ada.call("GET", "/api/orgs/restores")).name, "restores")
    await visit.close()
  })

  /** A page with its person, a way to take back what was done, and the settings as the server has them. */
  const opened = async (org: string, address: string) => {
    const ada = await Person.login(`${org}@example.com`)
    await ada.organization(org, { dev: { API_KEY: "1" }, prod: { API_KEY: "2" } })
    const visit = await Visit.open(`/${org}/${address}`, ada)
    const read = (path: string): Promise<Json> => ada.call("GET", `/api/orgs/${org}${path}`)
    const undo = async () => {
      await visit.page.getByRole("button", { name: "Undo", exact: true }).click()
      await visit.sees("It was taken back.")
    }
    return { ada, page: visit.page, read, undo, visit }
  }

  it("takes back the settings of a project", async () => {
    const { ada, page, read, undo, visit } = await opened("undo-project", "webshop/-/settings")
    const names = async () => (await read("/projects/webshop/envs")).data.map(({ name }: Json) => name)

    const before = await names()
    await visit.press("Move prod up")
    await visit.press("Save the order")
    await visit.sees("The order of the environments was saved.")
    assert.deepStrictEqual(await names(), ["dev", "prod", "staging"])
    await undo()
    assert.deepStrictEqual(await names(), before)
    await page.getByRole("button", { name: "Usual order" }).waitFor({ state: "detached" })

    await visit.press("Allow previews")
    await visit.sees(/^Previews are allowed: copies of/)
    const allowed = await read("/projects/webshop/previews")
    await visit.fill("Named", "review-*")
    await visit.press("Save previews")
    await visit.sees(/named review-\*\.$/)
    await undo()
    assert.strictEqual((await read("/projects/webshop/previews")).pattern, allowed.pattern)
    await visit.press("Allow none")
    await visit.confirm("Allow none")
    await visit.sees("No previews are allowed any more.")
    await undo()
    assert.strictEqual((await read("/projects/webshop/previews")).pattern, allowed.pattern)

    await page.getByLabel("Refuse values that break the declared pattern").check()
    await visit.press(/^Save what is refused/)
    await visit.sees("Values that break their declared pattern are refused.")
    assert.isTrue((await read("/projects/webshop")).strict)
    await undo()
    assert.isNotTrue((await read("/projects/webshop")).strict)

    const end = new Date(Date.now() + 86_400_000).toISOString()
    await ada.call("POST", "/api/orgs/undo-project/projects/webshop/envs", { name: "soon", expires_at: end })
    await page.reload()
    await visit.press(/^Extend/)
    await visit.confirm("Save")
    await visit.sees(/^soon ends at /)
    await undo()
    const { data } = await read("/projects/webshop/envs")
    assert.strictEqual(data.find(({ name }: Json) => name === "soon").expires_at, end)

    await visit.press("New environment")
    await visit.fill("Name of the environment", "preview")
    await visit.confirm("Create")
    await visit.sees("The environment preview was created.")
    assert.include(await names(), "preview")
    await undo()
    assert.notInclude(await names(), "preview")

    await visit.fill("Name of the project", "shop")
    await visit.press("Rename")
    await visit.sees("The project webshop is called shop now.")
    await undo()
    await page.waitForURL("**/undo-project/webshop/-/settings")
    await page.getByRole("heading", { name: "Settings of webshop" }).waitFor()
    await visit.close()
  })

  it("takes back the end of a protection at once, and asks for votes where the undo needs them", async () => {
    const { ada, page, read, undo, visit } = await opened("undo-votes", "webshop/-/settings")
    await ada.call("POST", "/api/orgs/undo-votes/members", { email: "voter@example.com", role: "owner" })
    await (await Person.login("voter@example.com")).accept()
    const path = "/projects/webshop/envs/prod/protection"

    await visit.press(/^Protect of the environment prod/)
    await page.getByRole("textbox", { name: "Break glass" }).fill("undo-votes@example.com")
    await visit.confirm("Protect")
    await visit.sees(/^prod is protected: each change needs /)
    await visit.press(/^Protection of the environment prod/)
    await page.getByRole("dialog").getByLabel("Each vote needs a passkey").check()
    await visit.confirm("Save")
    await visit.sees("The protection of prod was changed.")
    assert.isTrue((await read(path)).passkey)
    await page.getByRole("button", { name: "Undo", exact: true }).click()
    await visit.press("Request change")
    await visit.sees(/Your request for webshop\/prod waits for approval/)
    assert.strictEqual(await page.getByRole("button", { name: "Undo", exact: true }).count(), 0)
    assert.isTrue((await read(path)).passkey)

    await visit.press(/^Protection of the environment prod/)
    await visit.press("End the protection")
    await visit.press("Break glass…")
    await visit.fill("Reason", "INC-12")
    await visit.press("Break the glass")
    await visit.sees("prod is not protected any more.")
    await undo()
    assert.deepInclude(await read(path), { passkey: true, break_glass: ["undo-votes@example.com"] })
    await visit.close()
  })

  it("takes back what is said of a key", async () => {
    const { page, read, undo, visit } = await opened("undo-key", "webshop/API_KEY?env=dev")
    await page.locator("summary", { hasText: "Declared" }).click()
    await visit.press(/^Declare what is declared/)
    await visit.fill("Description", "first")
    await visit.confirm("Declare")
    await visit.sees("API_KEY is declared.")
    await undo()
    assert.deepStrictEqual((await read("/projects/webshop/declared")).data, [])
    await visit.press(/^Declare what is declared/)
    await visit.fill("Description", "second")
    await page.locator("dialog[open]").getByLabel("Owner").fill("ops")
    await visit.confirm("Declare")
    await visit.sees("API_KEY is declared.")
    await visit.press(/^Change what is declared/)
    await visit.confirm("Declare no longer")
    await visit.confirm("Declare no longer")
    await visit.sees("API_KEY is declared no longer.")
    await undo()
    assert.deepInclude(await read("/projects/webshop/declared/API_KEY"), { description: "second", owner: "ops" })

    await page.locator("summary", { hasText: "Due date" }).click()
    await visit.fill("Replace every", "90")
    await visit.press("Save the due date")
    await visit.sees("The due date of API_KEY in dev was saved.")
    await undo()
    assert.strictEqual(await page.getByLabel("Replace every").inputValue(), "")
    await visit.close()
  })

  it("takes back a use rule that was made, changed or revoked", async () => {
    const { ada, page, read, undo, visit } = await opened("undo-use", "webshop/API_KEY?env=dev")
    await ada.call("POST", "/api/orgs/undo-use/service-accounts", { name: "agent" })
    const rules = async (): Promise<ReadonlyArray<Json>> =>
      (await read("/projects/webshop/envs/dev/secrets/API_KEY/use-rules")).data
    await visit.press("Allow a use")
    await visit.fill("Who", "agent")
    await visit.fill("Hosts", "api.invalid")
    await visit.fill("Paths", "/v1/refunds")
    await page.getByLabel("The value goes into").selectOption("query")
    await visit.fill("Parameter", "key")
    await visit.confirm("Allow")
    await visit.sees("agent may use API_KEY.")
    const [made] = await rules()
    await undo()
    assert.deepStrictEqual(await rules(), [])

    const terms = { accounts: ["agent"], hosts: ["api.invalid"], paths: ["/v1/*"], max_kib: 7, per_day: 12 }
    const place = { in: "aws-sigv4", service: "s3", region: "eu-central-1", access_key_id: "AKIA" }
    const posted = { ...terms, place, expires_at: "2034-01-01T00:00:00.000Z" }
    await ada.call("POST", "/api/orgs/undo-use/projects/webshop/envs/dev/secrets/API_KEY/use-rules", posted)
    await page.reload()
    await visit.press(/^Edit… the use by agent/)
    assert.strictEqual(await page.getByLabel("Id of the access key").inputValue(), "AKIA")
    await visit.fill("Paths", "/v1/charges")
    await visit.confirm("Save")
    await visit.sees("The use by agent was changed.")
    assert.deepInclude((await rules())[0], { ...posted, paths: ["/v1/charges"] })
    await undo()
    assert.deepInclude((await rules())[0], posted)

    await visit.press(/^Revoke… the use by agent/)
    await visit.confirm("Revoke")
    await visit.sees("The use of API_KEY by agent was revoked.")
    assert.deepStrictEqual(await rules(), [])
    await undo()
    const [again] = await rules()
    assert.deepInclude(again, posted)
    assert.notStrictEqual(again?.id, made?.id)
    await page.getByRole("row", { name: /agent/ }).waitFor()
    await visit.close()
  })

  it("takes back the settings of an organization, its groups, accounts and webhooks", async () => {
    const { ada, page, read, undo, visit } = await opened("undo-org", "-/settings")
    const at = (path: string) => page.goto(`${new URL(page.url()).origin}/undo-org/-/${path}`)
    const api = "/api/orgs/undo-org"
    await ada.call("POST", `${api}/groups`, { name: "backend" })
    await ada.call("POST", `${api}/service-accounts`, { name: "deploy" })
    const hook = { url: "https://127.0.0.1:9/undo", events: ["secret.*"], environments: ["prod"] }
    await ada.call("POST", `${api}/webhooks`, hook)

    await page.getByLabel("Members remove a passkey that they have lost").selectOption({ index: 1 })
    await visit.press(/^Save how passkeys are recovered/)
    await visit.sees(/^Members remove a passkey that they have lost with another passkey only/)
    await undo()
    assert.notStrictEqual((await read("")).passkey_recovery, "none")

    await visit.fill("Name of the organization", "undone-org")
    await visit.press("Rename")
    await visit.sees("The organization undo-org is called undone-org now.")
    await undo()
    await page.waitForURL("**/undo-org/-/settings")

    await at("groups")
    await visit.press(/^Rename backend/)
    await visit.fill("Name of the group", "platform")
    await page.locator("dialog[open]").getByRole("button", { name: "Rename" }).click()
    await visit.sees("The group backend is called platform now.")
    await undo()
    assert.strictEqual((await read("/groups")).data[0].name, "backend")

    await at("accounts")
    await visit.press(/^Networks/)
    await visit.fill("It may call from", "10.20.0.0/16")
    await visit.confirm("Save")
    await visit.sees("deploy may call from 10.20.0.0/16.")
    await undo()
    assert.isUndefined((await read("/service-accounts")).data[0].allowed_networks)

    await at("webhooks")
    await visit.press(/^Edit/)
    await visit.fill("Environments", "dev")
    await visit.confirm("Save")
    await visit.sees("The webhook to https://127.0.0.1:9 was changed.")
    await undo()
    assert.deepStrictEqual((await read("/webhooks")).data[0].environments, ["prod"])
    await visit.close()
  })
})
