import { assert, describe, inject, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { type Json, Person } from "../support/Person.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`
const canary = "canary-7d0e2b8f4a61"

/** Sends a request with the secret as a service account; returns the refusal. */
const use = async (key: string, body: string): Promise<Json> => {
  const answer = await fetch(`${inject("server").url}/api/orgs/uses/projects/webshop/envs/dev/use`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-api-key": key },
    body: JSON.stringify({
      method: "POST",
      url: "https://api.invalid/v1/refunds",
      headers: { "content-type": "application/x-www-form-urlencoded" },
      body,
      secrets: ["STRIPE_KEY"]
    })
  })
  return (await answer.json()).error
}

const approvalPath = ({ message }: Json): string =>
  / at http:\/\/[^/]+(\/-\/org\/uses\/-\/approvals\?id=[0-9a-f-]+)/.exec(message)?.[1] ?? assert.fail(message)

describe.skipIf(!hasBrowser())(`use without seeing${why}`, () => {
  it("is allowed, approved, refused and revoked in the console", async () => {
    const ada = await Person.login("uses@example.com")
    await ada.organization("uses", { dev: { STRIPE_KEY: canary } })
    const agent = await ada.call("POST", "/api/orgs/uses/service-accounts", { name: "agent" })
    await ada.call("POST", "/api/orgs/uses/acl", {
      subject_type: "service_account",
      subject_id: agent.id,
      project_pattern: "*",
      env_pattern: "dev",
      permission: "use"
    })
    const visit = await Visit.open("/uses/webshop/STRIPE_KEY?env=dev", ada)
    await visit.sees("Nobody may use it without seeing it.")
    await visit.press("Allow a use")
    await visit.fill("Who", "agent")
    await visit.fill("Hosts", "https://api.invalid")
    await visit.fill("Paths", "/v1/refunds")
    await visit.sees(/hosts.*: must be host names in lowercase/)
    await visit.isAccessible("a use rule with a mistake")
    await visit.fill("Hosts", "api.invalid")
    await visit.page.getByLabel("POST", { exact: true }).check()
    await visit.page.getByLabel("Approval").selectOption("each")
    await visit.page.getByRole("button", { name: "Allow", exact: true }).click()
    await visit.sees("each request is approved")
    await visit.isAccessible("use rules")

    await visit.page.goto(inject("server").url + approvalPath(await use(agent.api_key, "charge=ch_1<script>")))
    await visit.sees("charge=ch_1<script>")
    await visit.sees("https://api.invalid/v1/refunds")
    await visit.isAccessible("approvals")
    await visit.press(/^Approve the request of agent/)
    await visit.sees("agent may send it once")
    await visit.page.locator(".approvals-one .badge.good").waitFor()
    assert.strictEqual((await use(agent.api_key, "charge=ch_1<script>")).code, "UPSTREAM_FAILED")

    const other = approvalPath(await use(agent.api_key, "charge=ch_2"))
    await visit.sees("charge=ch_2")
    await visit.press(/^Refuse the request of agent/)
    await visit.confirm("Refuse")
    await visit.sees("the request of agent is not sent")
    assert.strictEqual((await use(agent.api_key, "charge=ch_2")).code, "USE_REFUSED")
    await visit.page.goto(`${inject("server").url}${other.replace(/id=.*/, "id=0192f0c1-5b7e-7c3a-9d2e-4f6a8b0c1dd0")}`)
    await visit.sees("does not wait any more")

    await visit.page.goto(`${inject("server").url}/uses/webshop/STRIPE_KEY?env=dev`)
    await visit.press(/^Revoke… the use by agent/)
    await visit.page.locator("dialog").getByRole("button", { name: "Revoke" }).click()
    await visit.sees("Nobody may use it without seeing it.")
    assert.notInclude(await visit.page.content(), canary)
    await visit.close()
  }, 120_000)

  it("says which right is missing, and is not there without the broker", async () => {
    const ada = await Person.login("no-uses@example.com")
    await ada.organization("no-uses", { dev: { STRIPE_KEY: canary } })
    await ada.call("POST", "/api/orgs/no-uses/members", { email: "reads@example.com", role: "developer" })
    await ada.call("POST", "/api/orgs/no-uses/acl", {
      subject_type: "user",
      email: "reads@example.com",
      project_pattern: "*",
      env_pattern: "*",
      permission: "read"
    })
    const visit = await Visit.open("/no-uses/webshop/STRIPE_KEY?env=dev", await Person.login("reads@example.com"))
    await visit.sees(/a rule with the permission admin for dev/)
    await visit.page.route("**/api/server", (route) =>
      route.fulfill({ json: { uses: false, backups: true, org_creation: "anyone" } })
    )
    await visit.page.reload()
    await visit.sees("current")
    assert.strictEqual(await visit.page.getByText("Use without seeing").count(), 0)
    await visit.page.goto(`${inject("server").url}/no-uses/-/approvals`)
    await visit.sees("No request waits")
    assert.strictEqual(await visit.page.getByText("use rules").count(), 0)
    await visit.close()
  }, 120_000)
})
