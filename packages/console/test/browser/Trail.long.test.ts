import { text } from "node:stream/consumers"
import { afterAll, assert, beforeAll, describe, inject, it } from "vitest"
import { noChromium } from "../../../../scripts/chromium.mjs"
import { codeFor, codesFor, Person } from "../support/Person.js"
import { hasBrowser, Visit } from "../support/Visit.js"

const why = hasBrowser() ? "" : ` [${noChromium}]`
const canary = "canary-2c91e07ab4d8"

describe.skipIf(!hasBrowser())(`what happened, and where one is logged in${why}`, () => {
  let eve: Person
  let visit: Visit

  /** The text of the file that a button saves. */
  const saved = async (name: string): Promise<string> => {
    const [download] = await Promise.all([visit.page.waitForEvent("download"), visit.press(name)])
    return text(await download.createReadStream())
  }

  beforeAll(async () => {
    eve = await Person.login("eve@example.com")
    await eve.organization("trail", {
      prod: Object.fromEntries(Array.from({ length: 120 }, (_, i) => [`K${i}`, canary]))
    })
    const account = await eve.call("POST", "/api/orgs/trail/service-accounts", { name: "deploy" })
    const rule = { subject_type: "service_account", subject_id: account.id, permission: "read" }
    await eve.call("POST", "/api/orgs/trail/acl", { ...rule, project_pattern: "webshop", env_pattern: "prod" })
    visit = await Visit.open("/trail/-/audit", eve)
  })
  afterAll(async () => {
    await visit.close()
  })

  it("audit: says it in sentences, with the entry behind, until a time, and saves what is filtered", async () => {
    await visit.page.getByLabel("Action", { exact: true }).selectOption("acl.grant")
    await visit.sees("granted deploy read on webshop/prod")
    const row = visit.page.getByRole("row").filter({ hasText: "granted deploy" })
    await row.locator("summary").focus()
    await visit.page.keyboard.press("Enter")
    await row.getByText('"project_pattern": "webshop"').waitFor()
    assert.match((await row.locator("time").getAttribute("data-exact")) ?? "", /^20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC$/)
    await visit.isAccessible("audit sentences")

    await visit.fill("Until (UTC)", "yesterday")
    await visit.page.keyboard.press("Tab")
    await visit.sees(/^Until \(UTC\): ignored/)
    await visit.isAccessible("audit with a mistake")
    await visit.press("Clear")
    await visit.page.getByLabel("Action", { exact: true }).selectOption("secret.set")
    await visit.sees("120 entries")
    const lines = (await saved("Save as CSV")).split("\r\n")
    assert.lengthOf(lines, 122)
    assert.match(
      lines[1] ?? "",
      /^\d+,20\S+Z,eve@example\.com,user,secret\.set,.*set K\d+ \(version 1\) in webshop\/prod/
    )
    await visit.sees("120 entries saved.")
    const { data } = JSON.parse(await saved("Save as JSON"))
    assert.lengthOf(data, 120)
    assert.notInclude(JSON.stringify(data) + lines.join(), canary)

    await visit.fill("Until (UTC)", "2026-01-31")
    await visit.page.keyboard.press("Tab")
    await visit.sees("No entry fits these filters.")
    await visit.press("Clear")

    let release = () => {}
    const held = new Promise<void>((resolve) => (release = resolve))
    await visit.page.route("**/audit-logs?**after=**", async (route) => {
      await held
      await route.continue()
    })
    await visit.press("Save as JSON")
    await visit.page.locator("progress[value='100']").waitFor()
    await visit.isAccessible("an export that runs")
    await visit.press("Cancel")
    release()
    await visit.page.getByRole("button", { name: "Save as JSON" }).waitFor()
    await visit.page.unrouteAll({ behavior: "ignoreErrors" })
  })

  it("sessions: by browser, program and machine, the current one marked; one and all others end", async () => {
    const { url } = inject("server")
    const loggedIn = async (headers: Readonly<Record<string, string>>, more: object) => {
      const post = (path: string, body: object) =>
        fetch(url + path, {
          method: "POST",
          headers: { "content-type": "application/json", origin: url, ...headers },
          body: JSON.stringify(body)
        })
      const before = codesFor(eve.email).length
      await post("/api/auth/login", { email: eve.email })
      const answer = await post("/api/auth/verify", {
        email: eve.email,
        code: await codeFor(eve.email, before),
        ...more
      })
      assert.isBelow(answer.status, 300, await answer.text())
    }
    await loggedIn({ "x-coffer-client": "cli", "x-real-ip": "203.0.113.7" }, { machine: "adas-laptop" })
    const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
    await loggedIn({ "user-agent": firefox, "x-real-ip": "203.0.113.8" }, { session: "cookie" })
    await visit.page.goto(`${url}/-/account`)
    const rows = visit.page.getByRole("region", { name: "Sessions" }).getByRole("row")
    await rows.filter({ hasText: "coffer on adas-laptop" }).getByText("203.0.113.7").waitFor()
    await rows.filter({ hasText: "Firefox on Linux" }).getByText("203.0.113.8").waitFor()
    assert.strictEqual(await visit.page.getByText("this browser").count(), 1)
    await visit.isAccessible("sessions")
    await visit.page.getByRole("button", { name: "Actions for the session of coffer on adas-laptop" }).focus()
    await visit.page.keyboard.press("Enter")
    await visit.page.getByRole("menuitem", { name: "End the session of coffer on adas-laptop" }).waitFor()
    await visit.page.keyboard.press("Enter")
    await visit.confirm("End it")
    await visit.page.getByText("coffer on adas-laptop").first().waitFor({ state: "detached" })
    await visit.press("End all others")
    await visit.confirm("End them")
    await visit.page.getByText("Firefox on Linux").first().waitFor({ state: "detached" })
    assert.strictEqual(await rows.count(), 2, "the titles and this session")
  })

  it("a mistyped code is asked for again in one click, and takes the spaces that it is pasted with", async () => {
    // An address is sent 5 codes in 15 minutes.
    const typist = await Person.login("typist@example.com")
    await typist.organization("typed")
    await visit.context.clearCookies()
    await visit.page.goto(`${inject("server").url}/login`)
    const before = codesFor(typist.email).length
    await visit.fill("E-mail address", typist.email)
    await visit.press("Send me a code")
    const first = await codeFor(typist.email, before)
    assert.strictEqual(await visit.page.getByLabel("Code").getAttribute("autocomplete"), "one-time-code")
    await visit.fill("Code", first === "000000" ? "111111" : "000000")
    await visit.page.keyboard.press("Enter")
    await visit.sees(/code is wrong/)
    await visit.isAccessible("a wrong code")
    // The focus is on the button.
    await visit.page.keyboard.press("Enter")
    const second = await codeFor(typist.email, before + 1)
    await visit.fill("Code", `${second.slice(0, 3)} ${second.slice(3)}`)
    await visit.page.keyboard.press("Enter")
    await visit.sees("Organizations")

    await visit.page.goto(`${inject("server").url}/typed/-/members`)
    await visit.sees("Members")
    await visit.context.clearCookies()
    // The page may have learned already that the session is gone, and asks for a code above the link.
    await visit.page.getByRole("link", { name: "Rules" }).dispatchEvent("click")
    await visit.press(/^Send a code to/)
    const third = await codeFor(typist.email, before + 2)
    await visit.fill(/^Code from the mail/, third === "000000" ? "111111" : "000000")
    await visit.page.keyboard.press("Enter")
    await visit.page.getByRole("button", { name: /^Send another code to typist/ }).waitFor()
    await visit.isAccessible("a wrong code in the dialog")
    await visit.page.keyboard.press("Enter")
    const fourth = await codeFor(typist.email, before + 3)
    await visit.fill(/^Code from the mail/, ` ${fourth.slice(0, 3)}-${fourth.slice(3)} `)
    await visit.page.keyboard.press("Enter")
    await visit.sees("There are no rules yet")
  })
})
