import { afterAll, assert, beforeAll, describe, expect, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { renewerPassword } from "../../../server/test/support/postgres/RenewedDatabase.js"
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
    await rotation.waitFor({ state: "detached" })
    await visit.close()
  })

  it("creates a connection, a rotation and a role, changes the rotation, and deletes them", async () => {
    const { ca, port } = renewed.database
    const env = "/api/orgs/renews/projects/webshop/envs/dev"
    const listed = async (what: string) => (await ada.call("GET", `${env}/${what}`)).data
    await ada.call("PATCH", `${env}/bundle`, { set: { RENEWER: renewerPassword } })
    const visit = await Visit.open("/renews/webshop/-/renewal?env=dev", ada)
    const { page } = visit
    const dialog = page.locator("dialog[open]")
    await page.getByRole("heading", { name: "Connections" }).waitFor()
    await visit.press("New rotation")
    await visit.sees("There is no connection yet")
    await page.keyboard.press("Escape")
    await dialog.waitFor({ state: "detached" })

    await visit.press("New connection")
    await visit.fill("Name", "shop-db")
    await visit.fill("Host", "db/internal")
    await visit.fill("Port", String(port))
    await visit.fill("Database", "postgres")
    await visit.fill("User", "renewer")
    await page.getByLabel("Check of its certificate").selectOption("verify-ca")
    await visit.fill("Certificates to trust", ca)
    await visit.fill("Key of the password", "RENEWER")
    await visit.sees("Host: must be the name of a host or an address, without a port")
    await visit.isAccessible("a new connection")
    await visit.fill("Host", "127.0.0.1")
    await dialog.getByRole("button", { name: "Create" }).click()
    await visit.sees("The connection shop-db was added.")
    await visit.press("Test shop-db")
    await visit.sees(/shop-db: logged in to .*The user may create users/)

    await visit.press("New rotation")
    assert.match(page.url(), /new=rotation/)
    await visit.fill("Name", "shop-app")
    await visit.fill("Users", "app_a app_b")
    await visit.fill("Writes", `DATABASE_URL=postgres://app_a:{password}@127.0.0.1:${port}/postgres`)
    await visit.sees("with two users, one template must have {user}")
    await visit.isAccessible("a new rotation")
    await visit.fill("Writes", `DATABASE_URL=postgres://{user}:{password}@127.0.0.1:${port}/postgres`)
    await dialog.getByText("When a turn may begin").click()
    await visit.fill("Days", "sat")
    await visit.sees("Window: must be a time of the day such as 22:30")
    for (const [label, text] of [
      ["From", "22:00"],
      ["To", "04:00"],
      ["Time zone", "Europe/Berlin"]
    ] as const) {
      await dialog.getByLabel(label, { exact: true }).fill(text)
    }
    await dialog.getByRole("button", { name: "Create" }).click()
    await visit.sees("The rotation shop-app was added. Its first turn is after 30d.")
    const rotation = page.getByRole("row", { name: /^shop-app/ })
    await rotation.getByText("never").waitFor()
    await visit.press("Pause shop-app")
    await rotation.getByText("paused by renews@example.com").waitFor()

    await visit.press("Edit shop-app")
    await page.getByRole("heading", { name: "Rotation shop-app" }).waitFor()
    assert.match(page.url(), /edit=shop-app/)
    await visit.fill("Every", "5m")
    await visit.sees("Every: must be a length of time such as 12h or 30d")
    await visit.isAccessible("a rotation that is changed")
    await visit.fill("Every", "7d")
    await page.getByLabel("Writes").press("End")
    await page.getByLabel("Writes").pressSequentially("\nPASSWORD={password}")
    await dialog.getByText("When a turn may begin").click()
    for (const label of ["Days", "From", "To", "Time zone"]) await dialog.getByLabel(label, { exact: true }).fill("")
    await visit.confirm("Save")
    await visit.sees("The rotation shop-app was changed.")
    const [changed] = await listed("rotations")
    assert.deepInclude(changed, { every: "7d", window: null })
    assert.deepStrictEqual(Object.keys(changed.writes), ["DATABASE_URL", "PASSWORD"])
    await rotation.getByText("paused by renews@example.com").waitFor()
    await page.getByRole("button", { name: "Undo", exact: true }).click()
    await visit.sees("It was taken back.")
    const [before] = await listed("rotations")
    assert.deepInclude(before, {
      every: "30d",
      window: { days: ["sat"], from: "22:00", to: "04:00", zone: "Europe/Berlin" }
    })
    assert.deepStrictEqual(Object.keys(before.writes), ["DATABASE_URL"])
    await visit.press("Resume shop-app")
    await rotation.getByText("idle").waitFor()
    await visit.press("Run now the rotation shop-app")
    await expect.poll(async () => (await listed("rotations"))[0].rotated_at).not.toBeNull()
    const { value } = await ada.call("GET", `${env}/secrets/DATABASE_URL`)
    assert.match(value, /^postgres:\/\/app_[ab]:[A-Za-z0-9]{32}@/)

    await visit.press("New role")
    await visit.fill("Name", "app-role")
    await visit.fill("Lasts", "10m")
    await visit.fill("Lasts at most", "40d")
    await visit.sees("Lasts at most: must be a length of time")
    await dialog.locator("summary").click()
    await visit.isAccessible("a new role")
    await visit.fill("Lasts at most", "1h")
    await dialog.getByRole("button", { name: "Create" }).click()
    await visit.sees("The role app-role was added")
    const { username } = await ada.call("POST", `${env}/roles/app-role/leases`, {})
    assert.lengthOf(await renewed.database.query(`SELECT rolname FROM pg_roles WHERE rolname = '${username}'`), 1)

    await visit.press("Delete shop-db")
    await page.locator("#confirm-name").fill("shop-db")
    await visit.confirm("Delete")
    await dialog.locator(".problem").waitFor()
    await page.keyboard.press("Escape")
    await dialog.waitFor({ state: "detached" })
    const [lease] = await listed("leases")
    await ada.call("DELETE", `${env}/leases/${lease.id}`)
    await expect.poll(async () => (await listed("leases")).length).toBe(0)
    for (const name of ["shop-app", "app-role", "shop-db"]) {
      await visit.press(`Delete ${name}`)
      await page.locator("#confirm-name").fill(name)
      await visit.confirm("Delete")
      await page.getByRole("row", { name: new RegExp(`^${name}`) }).waitFor({ state: "detached" })
    }
    assert.deepStrictEqual(
      [await listed("rotations"), await listed("roles"), await listed("connections")],
      [[], [], []]
    )
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
