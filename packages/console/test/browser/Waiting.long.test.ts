import { assert, describe, expect, inject, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { Person } from "../support/Person.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`

/** An agent that may use a secret of an organization once a person has approved it. */
const askingAgent = async (ada: Person, org: string) => {
  const agent = await ada.call("POST", `/api/orgs/${org}/service-accounts`, { name: "agent" })
  await ada.call("POST", `/api/orgs/${org}/acl`, {
    ...{ subject_type: "service_account", subject_id: agent.id },
    ...{ project_pattern: "*", env_pattern: "dev", permission: "use" }
  })
  await ada.call("POST", `/api/orgs/${org}/projects/webshop/envs/dev/secrets/STRIPE_KEY/use-rules`, {
    ...{ hosts: ["api.invalid"], methods: ["POST"], paths: ["/v1/refunds"], accounts: ["agent"], approval: "each" },
    place: { in: "header", name: "authorization", format: "Bearer {}" }
  })
  return (body: string) =>
    fetch(`${inject("server").url}/api/orgs/${org}/projects/webshop/envs/dev/use`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-api-key": agent.api_key },
      body: JSON.stringify({ method: "POST", url: "https://api.invalid/v1/refunds", body, secrets: ["STRIPE_KEY"] })
    })
}

describe.skipIf(!hasBrowser())(`what is due and waits${why}`, { timeout: 120_000 }, () => {
  it("is on the home page and on that of the organization, in the title and on the tab", async () => {
    const ada = await Person.login("waits@example.com")
    await ada.organization("waits", { dev: { STRIPE_KEY: "canary-of-stripe", OLD: "1" }, prod: { ONE: "2" } })
    await ada.call("PATCH", "/api/orgs/waits/projects/webshop/envs/dev/secrets/OLD", {
      expires_at: "2020-01-31T00:00:00.000Z"
    })
    const ask = await askingAgent(ada, "waits")
    const visit = await Visit.open("/waits", ada)
    await visit.page.getByRole("row", { name: /webshop 3 3 .*by waits@example.com/ }).waitFor()
    await visit.page.getByRole("row", { name: /OLD webshop\/dev overdue/ }).waitFor()
    assert.strictEqual(await visit.page.title(), "waits · Coffer")
    await visit.isAccessible("an organization")
    assert.strictEqual((await ask("charge=1")).status, 409)
    await visit.page.reload()
    await visit.page.getByRole("link", { name: "Requests 1 waiting" }).waitFor()
    await expect.poll(() => visit.page.title()).toBe("(1) waits · Coffer")
    await visit.isAccessible("an organization with a request that waits")
    await visit.press("New project")
    await visit.fill("Name of the project", "made-here")
    await visit.page.keyboard.press("Enter")
    await visit.sees("made-here has no secrets yet")

    await visit.page.getByRole("link", { name: "Coffer" }).click()
    await visit.page.getByRole("row", { name: /waits owner 2 / }).waitFor()
    await visit.page.getByRole("row", { name: /OLD webshop\/dev overdue/ }).waitFor()
    await visit.isAccessible("home")
    await visit.page.getByRole("link", { name: "request waits for you in waits" }).press("Enter")
    await visit.press(/^Refuse/)
    await visit.confirm("Refuse")
    await visit.page.getByRole("link", { name: "Requests", exact: true }).waitFor()
    assert.strictEqual(await visit.page.title(), "Requests · waits · Coffer")
    // The page looks for new requests by itself.
    await ask("charge=2")
    await visit.sees("charge=2")
    assert.strictEqual(await visit.page.title(), "(1) Requests · waits · Coffer")
    await visit.close()
  })
})
