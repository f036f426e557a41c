import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { alertOf } from "../support/Browser.js"
import { freePort } from "../support/Port.js"
import { Program } from "../support/Program.js"
import { beginDevice, codeOf, loopbackLogin, nextOf, PersonsBrowser, tokenFor } from "../support/ProgramLogins.js"

let program: Program

beforeAll(async () => {
  const port = await freePort()
  program = await Program.start({
    SERVICE_PORT: String(port),
    SERVICE_PUBLIC_URL: `http://127.0.0.1:${port}`,
    SUPERADMIN_EMAIL_0: "root@example.com"
  })
})
afterAll(async () => {
  await program.remove()
})

const browser = () => new PersonsBrowser(program)
const me = async (token: string) => (await program.call("GET", "/api/auth/me", { token })).body

/** The newest audit entry of an action by a person. */
const newest = async (action: string, email: string) => {
  const token = await program.login("root@example.com")
  const { body } = await program.call("GET", `/api/audit-logs?action=${action}&limit=100`, { token })
  return body.data.find((entry: { readonly actor_name: string }) => entry.actor_name === email)
}

describe("the login of a program on the browser's machine", () => {
  it("goes over the login page and a yes to the program, which gets a session for its code", async () => {
    const reader = browser()
    const { path, state, verifier } = loopbackLogin()
    const question = await reader.logIn(await reader.open(path))
    assert.strictEqual(question.status, 200, question.text)
    assert.include(question.text, "<strong>adas-laptop</strong>")
    assert.include(question.text, "127.0.0.1:53682")
    assert.include(question.text, reader.email)
    assert.isFalse(reader.cookies.has("coffer"), "the browser itself gets no session")
    const last = await reader.submit(question, { answer: "yes" })
    assert.strictEqual(last.status, 200, last.text)
    const next = nextOf(last) ?? assert.fail("the page leads nowhere")
    assert.strictEqual(next.origin, "http://127.0.0.1:53682")
    assert.strictEqual(next.searchParams.get("state"), state)
    const code = next.searchParams.get("code") ?? ""
    const { body, status } = await tokenFor(program, { code, verifier })
    assert.strictEqual(status, 200)
    assert.deepInclude(await me(body.token), { type: "user", email: reader.email })
    assert.deepStrictEqual((await newest("auth.verify", reader.email))?.metadata, {
      method: "loopback",
      machine: "adas-laptop",
      client: "cli"
    })
    assert.strictEqual(codeOf(await tokenFor(program, { code, verifier })), "INVALID_CODE")
    assert.strictEqual((await reader.submit(question, { answer: "yes" })).status, 400, "the flow has ended")
  })

  it("ends without a code by a no", async () => {
    const reader = browser()
    const { path, state } = loopbackLogin()
    const next = nextOf(await reader.submit(await reader.logIn(await reader.open(path)), { answer: "no" }))
    assert.deepStrictEqual(
      [...(next?.searchParams ?? [])],
      [
        ["error", "access_denied"],
        ["state", state]
      ]
    )
  })

  it.each([
    ["another machine", { redirect_uri: "http://evil.example/callback" }],
    ["another machine behind the loopback's name", { redirect_uri: "http://127.0.0.1:80@evil.example/" }],
    ["a script", { redirect_uri: "javascript:alert(1)" }],
    ["no address", { redirect_uri: "" }],
    ["a plain challenge", { code_challenge_method: "plain" }],
    ["no challenge", { code_challenge: "" }],
    ["markup in its state", { state: '"><script>' }],
    ["markup in its machine", { machine: "<b>" }]
  ])("does not begin with %s", async (_what, parameters) => {
    const page = await browser().open(loopbackLogin(parameters).path)
    assert.strictEqual(page.status, 400)
    assert.match(alertOf(page), /^This address is not as coffer login makes it/)
    assert.notInclude(page.text, "evil.example")
    assert.isUndefined(nextOf(page))
  })

  it("gives nothing to a thief of the code, who does not have the verifier", async () => {
    const reader = browser()
    const { path, verifier } = loopbackLogin()
    const question = await reader.logIn(await reader.open(path))
    const code = nextOf(await reader.submit(question, { answer: "yes" }))?.searchParams.get("code") ?? ""
    assert.strictEqual(codeOf(await tokenFor(program, { code })), "VALIDATION_ERROR")
    assert.strictEqual(codeOf(await tokenFor(program, { code, verifier: loopbackLogin().verifier })), "INVALID_CODE")
    assert.strictEqual(codeOf(await tokenFor(program, { code, verifier })), "INVALID_CODE", "it is used up")
    assert.strictEqual(codeOf(await tokenFor(program, { device_code: code })), "INVALID_CODE")
  })

  it("asks nobody who has not logged in, and takes no other browser's yes", async () => {
    const reader = browser()
    const { path } = loopbackLogin()
    const first = await reader.open(path)
    const [, csrf = ""] = /name="csrf" value="([^"]*)"/.exec(first.text) ?? []
    const early = await reader.open("/login/decide", {
      method: "POST",
      body: new URLSearchParams({ csrf, answer: "yes" })
    })
    assert.strictEqual(early.status, 400)
    const question = await reader.logIn(await reader.open(path))
    const stranger = browser()
    await stranger.open(path)
    assert.strictEqual((await stranger.submit(question, { answer: "yes" })).status, 400)
    assert.strictEqual((await reader.submit(question, { answer: "yes", csrf: "x".repeat(22) })).status, 400)
    assert.strictEqual(
      (await reader.submit(question, { answer: "yes" }, { "sec-fetch-site": "cross-site" })).status,
      400
    )
    assert.isDefined(nextOf(await reader.submit(question, { answer: "yes" })))
  })
})

describe("the login of a program on a machine without a browser", () => {
  it("goes over the code, the login page and a yes", async () => {
    const { device_code, user_code, verification_uri, verification_uri_complete } = await beginDevice(program)
    assert.strictEqual(verification_uri, `${program.url}/device`)
    assert.strictEqual(codeOf(await tokenFor(program, { device_code })), "AUTHORIZATION_PENDING")
    const fast = await tokenFor(program, { device_code })
    assert.deepStrictEqual([fast.status, codeOf(fast), fast.headers.get("retry-after")], [429, "SLOW_DOWN", "5"])

    const reader = browser()
    const entry = await reader.open(verification_uri_complete)
    assert.include(entry.text, `value="${user_code}"`)
    const sent = await reader.submit(entry, { code: user_code })
    assert.deepStrictEqual([sent.status, sent.headers.get("location")], [303, "/login?again"])
    const question = await reader.logIn(await reader.open("/login?again"))
    assert.include(question.text, "<strong>build-box</strong>")
    assert.include(question.text, "from 203.0.113.7")
    assert.strictEqual(codeOf(await tokenFor(program, { device_code })), "SLOW_DOWN", "a login alone approves nothing")
    const last = await reader.submit(question, { answer: "yes" })
    assert.include(last.text, "You can close this window")
    const { body } = await tokenFor(program, { device_code })
    assert.deepInclude(await me(body.token), { email: reader.email })
    assert.deepInclude((await newest("auth.verify", reader.email))?.metadata, { method: "device", client: "cli" })
    assert.strictEqual(codeOf(await tokenFor(program, { device_code })), "INVALID_CODE")
  })

  it("can be refused, which the program is told", async () => {
    const { device_code, user_code } = await beginDevice(program)
    const reader = browser()
    await reader.submit(await reader.open("/device"), { code: ` ${user_code.toLowerCase().replace("-", "")} ` })
    const question = await reader.logIn(await reader.open("/login?again"))
    assert.include((await reader.submit(question, { answer: "no" })).text, "The program gets nothing")
    const told = await tokenFor(program, { device_code })
    assert.deepStrictEqual([told.status, codeOf(told)], [403, "FORBIDDEN"])
    const other = browser()
    const again = await other.submit(await other.open("/device"), { code: user_code })
    assert.match(alertOf(again), /^This code is wrong, used or expired/)
  })

  it("belongs to the person who was first to say yes: a second one is too late", async () => {
    const { device_code, user_code } = await beginDevice(program)
    const [first, second] = [browser(), browser()]
    const questionFor = async (reader: PersonsBrowser) => {
      await reader.submit(await reader.open("/device"), { code: user_code })
      return reader.logIn(await reader.open("/login?again"))
    }
    const [one, other] = [await questionFor(first), await questionFor(second)]
    assert.strictEqual((await first.submit(one, { answer: "yes" })).status, 200)
    const late = await second.submit(other, { answer: "yes" })
    assert.strictEqual(late.status, 400)
    assert.match(alertOf(late), /decided already/)
    assert.deepInclude(await me((await tokenFor(program, { device_code })).body.token), { email: first.email })
  })

  it("gives nothing for the code that the screen shows", async () => {
    const { user_code } = await beginDevice(program)
    assert.strictEqual(codeOf(await tokenFor(program, { device_code: user_code })), "VALIDATION_ERROR")
    assert.strictEqual(codeOf(await tokenFor(program, { device_code: user_code.padEnd(43, "A") })), "INVALID_CODE")
  })

  it("is not found by guessing: ten wrong codes shut out the network for a while", async () => {
    const { user_code } = await beginDevice(program)
    const reader = browser()
    const wrong = `${user_code.startsWith("B") ? "CCCC" : "BBBB"}-BBBB`
    let page = await reader.open("/device")
    assert.strictEqual(
      alertOf(await reader.submit(page, { code: "AEIOU" })),
      "A code has 8 letters, such as WDJB-MJHT."
    )
    for (let times = 0; times < 10; times++) {
      page = await reader.submit(page, { code: wrong })
      assert.strictEqual(page.status, 400)
    }
    const shut = await reader.submit(page, { code: user_code })
    assert.strictEqual(shut.status, 429)
    assert.match(shut.headers.get("retry-after") ?? "", /^\d+$/)
    const other = browser()
    assert.strictEqual((await other.submit(await other.open("/device"), { code: user_code })).status, 303)
  })

  it("asks for the code after a login too, and repeats no markup", async () => {
    const reader = browser()
    await reader.open("/device")
    const entry = await reader.logIn(await reader.open("/login?again"))
    assert.include(entry.text, 'action="/device"')
    const strange = await reader.submit(entry, { code: '"><script>' })
    assert.notInclude(strange.text, "<script")
    const { user_code } = await beginDevice(program)
    const question = await reader.submit(strange, { code: user_code })
    assert.include(question.text, "Let coffer log in?")
    assert.notInclude((await reader.open('/device?code="><script>')).text, "<script")
  })
})

describe("a page that asks for a yes", () => {
  const question = async (reader: PersonsBrowser) => reader.logIn(await reader.open(loopbackLogin().path))

  it("approves nothing after all sessions of the person are ended elsewhere", async () => {
    const reader = browser()
    const page = await question(reader)
    const token = await program.login(reader.email)
    assert.strictEqual((await program.call("DELETE", "/api/auth/sessions", { token })).status, 204)
    const late = await reader.submit(page, { answer: "yes" })
    assert.strictEqual(late.status, 403)
    assert.match(alertOf(late), /^Your logins were ended after you logged in here: run coffer login again/)
    assert.isUndefined(nextOf(late))
  })

  it("approves nothing after the person was disabled, also once enabled again", async () => {
    const reader = browser()
    const page = await question(reader)
    const token = await program.login("root@example.com")
    const { body } = await program.call("GET", `/api/users?email=${encodeURIComponent(reader.email)}`, { token })
    const user = `/api/users/${body.data[0].id}`
    for (const change of ["disable", "enable"]) {
      assert.strictEqual((await program.call("POST", `${user}/${change}`, { token })).status, 200)
    }
    assert.strictEqual((await reader.submit(page, { answer: "yes" })).status, 403)
  })

  it("gives nothing to a thief of the flow's cookie, who cannot read its form", async () => {
    const reader = browser()
    const page = await question(reader)
    const thief = browser()
    const steal = () => {
      for (const [name, value] of reader.cookies) thief.cookies.set(name, value)
    }
    steal()
    for (const path of ["/login/decide", "/device", "/login"]) {
      const answer = await thief.open(path, { method: "POST", body: new URLSearchParams({ answer: "yes", csrf: "" }) })
      assert.strictEqual(answer.status, 400, path)
    }
    for (const path of ["/login?again", "/login", "/device"]) {
      steal()
      const [, csrf = ""] = /name="csrf" value="([^"]*)"/.exec((await thief.open(path)).text) ?? []
      const body = new URLSearchParams({ answer: "yes", csrf })
      const answer = await thief.open("/login/decide", { method: "POST", body })
      assert.strictEqual(answer.status, 400, path)
      assert.isUndefined(nextOf(answer), path)
    }
    assert.isDefined(nextOf(await reader.submit(page, { answer: "yes" })), "the person's own page goes on")
  })
})

describe("a server without SERVICE_PUBLIC_URL", () => {
  it("begins no login by device, and says so", async () => {
    const other = await Program.start()
    const { body, status } = await other.call("POST", "/api/auth/device", { body: {} })
    assert.strictEqual(status, 403)
    assert.include(body.error.message, "SERVICE_PUBLIC_URL")
    assert.isNull((await other.call("GET", "/api/auth/methods")).body.public_url)
    await other.remove()
  })
})
