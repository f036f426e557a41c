import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { Person } from "../support/Person.js"
import { Renewed } from "../support/Renewal.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`

describe.skipIf(!hasBrowser())(`the renewal of credentials${why}`, { timeout: 120_000 }, () => {
  let renewed: Renewed
  let ada: Person
  let username: string
  beforeAll(async () => {
    renewed = await Renewed.start()
    ada = await Person.login("renews@example.com")
    await ada.organization("renews", { dev: { KEY: "1" } })
    username = await renewed.fill(ada, "/api/orgs/renews/projects/webshop/envs/prod")
  }, 60_000)
  afterAll(() => renewed.stop())

  it("shows rotations and runs, pauses and deletes them, revokes leases, and tests connections", async () => {
    const visit = await Visit.open("/renews/webshop/-/renewal?env=prod", ada)
    const { page } = visit
    const rotation = page.getByRole("row", { name: /^shop-app/ })
    const lease = page.getByRole("row", { name: new RegExp(`^${username}`) })
    await rotation.getByText("idle").waitFor()
    await rotation.getByText("never").waitFor()
    await visit.isAccessible("renewal")

    await visit.press("Run now the rotation shop-app")
    await visit.sees("A turn of shop-app begins.")
    const readRotation = async () => {
      const { data } = await ada.call("GET", "/api/orgs/renews/projects/webshop/envs/prod/rotations")
      return data[0]
    }
    for (let tries = 0; tries < 200 && (await readRotation()).rotated_at === null; tries++) {
      await page.waitForTimeout(100)
    }
    await page.reload()
    await rotation.getByText("just now").waitFor()
    await rotation.getByText("idle").waitFor()

    await visit.press("Pause shop-app")
    await rotation.getByText("paused by renews@example.com").waitFor()
    await visit.press("Undo")
    await rotation.getByText("paused by").waitFor({ state: "detached" })

    await visit.press("Test shop-db")
    await visit.sees(/shop-db: logged in to .*The user may create users/)

    await lease.getByText("live").waitFor()
    await visit.press(`Revoke ${username}`)
    await visit.isAccessible("the end of a lease")
    await visit.confirm("Revoke")
    await visit.sees(`${username} ends within seconds.`)
    for (let left = 1; left > 0;) {
      const rows = await renewed.database.query(`SELECT rolname FROM pg_roles WHERE rolname = '${username}'`)
      left = rows.length
      if (left > 0) await page.waitForTimeout(100)
    }
    await page.reload()
    await rotation.waitFor()
    assert.strictEqual(await lease.count(), 0)

    await visit.press("Delete shop-app")
    await page.locator("#confirm-name").fill("shop-app")
    await visit.confirm("Delete")
    await visit.sees("coffer rotation create")
    await visit.close()
  })

  it("shows a member the own leases alone, and tries nothing else", async () => {
    await ada.call("POST", "/api/orgs/renews/members", { email: "leases-alone@example.com", role: "developer" })
    const visit = await Visit.open("/renews/webshop/-/renewal", await Person.login("leases-alone@example.com"))
    await visit.page.getByRole("heading", { name: "Renewal" }).waitFor()
    await visit.sees(/You may not read prod|coffer lease create/)
    assert.strictEqual(await visit.page.getByRole("heading", { name: "Connections" }).count(), 0)
    const log = await ada.call("GET", "/api/orgs/renews/audit-logs?action=access.denied")
    assert.deepStrictEqual(log.data, [])
    await visit.close()
  })
})
