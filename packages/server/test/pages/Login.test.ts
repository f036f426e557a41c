import { createHash } from "node:crypto"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { alertOf, Browser, type Page } from "../support/Browser.js"
import { Program } from "../support/Program.js"

let program: Program

beforeAll(async () => {
  program = await Program.start()
})
afterAll(async () => {
  await program.remove()
})

let clients = 0
/** A browser at an address of its own network. It reaches the server directly, so the address is the connection's. */
const browser = () => new Browser(program.url)
const address = () => `person${++clients}@example.com`

/** A code that an address was sent: the first, or a later one. */
const codeOf = async (email: string, count = 1): Promise<string> => {
  const [, code = ""] = await program.said(new RegExp(`^login code for ${email}: (\\d{6})$`, "gm"), count)
  return code
}

const logIn = async (reader: Browser, email: string): Promise<Page> => {
  const asked = await reader.submit(await reader.open("/login"), { email })
  assert.strictEqual(asked.status, 200, asked.text)
  return reader.submit(asked, { code: await codeOf(email) })
}

describe("the login page", () => {
  it("leads from the address over the code to a session, without a script", async () => {
    const reader = browser()
    const email = address()
    const first = await reader.open("/login")
    assert.strictEqual(first.status, 200)
    const second = await reader.submit(first, { email: email.toUpperCase() })
    assert.include(second.text, `If ${email} may log in`)
    const last = await reader.submit(second, { code: await codeOf(email) })
    assert.strictEqual(last.status, 200, last.text)
    assert.include(last.text, '<meta http-equiv="refresh" content="0; url=/">')
    assert.deepStrictEqual(
      last.headers.getSetCookie().map((line) => line.replace(/=svc_st_\w+/, "=svc_st_")),
      [
        "coffer=svc_st_; Max-Age=2592000; Path=/; HttpOnly; SameSite=Strict",
        "coffer-flow=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax"
      ]
    )
    assert.notMatch([first.text, second.text, last.text].join(), /<script|svc_st_|javascript:| on\w+=/)
    assert.deepInclude((await reader.call("GET", "/api/auth/me")).body, { type: "user", email })
    assert.strictEqual((await reader.open("/")).status, 200)
  })

  it("may load nothing and run nothing: its policy names its own style alone", async () => {
    const { headers, text } = await browser().open("/login")
    const [, style = ""] = /<style>([^]*)<\/style>/.exec(text) ?? []
    const policy = headers.get("content-security-policy") ?? ""
    assert.include(policy, "default-src 'none'")
    assert.include(policy, `style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'`)
    assert.include(policy, "frame-ancestors 'none'")
    assert.notInclude(policy, "unsafe")
    assert.strictEqual(headers.get("x-frame-options"), "DENY")
    assert.strictEqual(headers.get("cache-control"), "no-store")
    assert.strictEqual(headers.get("referrer-policy"), "no-referrer")
  })

  it("returns to the address that asked for it, if the address is the server's own", async () => {
    const nextOf = async (next: string) => {
      const reader = browser()
      const email = address()
      const first = await reader.open(`/login?next=${encodeURIComponent(next)}`)
      const asked = await reader.submit(first, { email })
      const last = await reader.submit(asked, { code: await codeOf(email) })
      return /content="0; url=([^"]*)"/.exec(last.text)?.[1]
    }
    assert.strictEqual(await nextOf("/acme/webshop?env=prod&filter=x#KEY"), "/acme/webshop?env=prod&amp;filter=x#KEY")
    assert.strictEqual(await nextOf(`/acme/"><script>`), "/acme/%22%3E%3Cscript%3E")
    for (const elsewhere of [
      ...["//elsewhere.test/", "/\\elsewhere.test", "/\t/elsewhere.test", "/x/..//elsewhere.test"],
      ...["https://elsewhere.test/", "javascript:alert(1)", "acme", "", `/${"a".repeat(1_000)}`]
    ]) {
      assert.strictEqual(await nextOf(elsewhere), "/", elsewhere)
    }
  })

  it("says what is wrong with an address or a code, and keeps the address", async () => {
    const reader = browser()
    const email = address()
    const wrong = await reader.submit(await reader.open("/login"), { email: '"><b>x@example.com' })
    assert.strictEqual(wrong.status, 400)
    assert.include(alertOf(wrong), "not an e-mail address")
    assert.include(wrong.text, "&quot;&gt;&lt;b&gt;x@example.com")
    const asked = await reader.submit(wrong, { email })
    const short = await reader.submit(asked, { code: "12" })
    assert.strictEqual(alertOf(short), "A code has 6 digits.")
    const code = await codeOf(email)
    const other = await reader.submit(short, { code: code === "000000" ? "000001" : "000000" })
    assert.strictEqual(other.status, 401)
    assert.match(alertOf(other), /^The code is wrong, used, expired/)
    assert.include(other.text, `value="${email}"`)
    assert.include(other.text, "<button autofocus>Send another code</button>")
    const late = await reader.submit(short, { code })
    assert.strictEqual(late.status, 401, "a wrong code ends the pending one")
    assert.isFalse(reader.cookies.has("coffer"))
    const sent = await reader.submit(other, { email })
    assert.match(sent.text, /autocomplete="one-time-code" pattern="[^"]+" maxlength="40"/)
    const next = await codeOf(email, 2)
    const pasted = await reader.submit(sent, { code: ` ${next.slice(0, 3)} ${next.slice(3)}\u00a0` })
    assert.strictEqual(pasted.status, 200, "with the spaces that it was pasted with")
  })

  it("tells of the limits of its address", async () => {
    const reader = browser()
    const email = address()
    const first = await reader.open("/login")
    for (let times = 0; times < 5; times++) assert.strictEqual((await reader.submit(first, { email })).status, 200)
    const limited = await reader.submit(first, { email })
    assert.strictEqual(limited.status, 429)
    assert.match(alertOf(limited), /^Too many login requests for this e-mail: try again in \d+ seconds\.$/)
    assert.match(limited.headers.get("retry-after") ?? "", /^\d+$/)
  })

  it("takes no field that a form has twice, however many fields there are", async () => {
    const reader = browser()
    const email = address()
    const [, csrf = ""] = /name="csrf" value="([^"]*)"/.exec((await reader.open("/login")).text) ?? []
    const send = (...more: ReadonlyArray<[string, string]>) =>
      reader.open("/login", { method: "POST", body: new URLSearchParams([["csrf", csrf], ["email", email], ...more]) })
    assert.match(alertOf(await send(["csrf", csrf])), /start again\.$/)
    assert.match(alertOf(await send(["email", email])), /^That is not an e-mail address/)
    const many = Array.from({ length: 2_000 }, (): [string, string] => ["a", ""])
    assert.strictEqual((await send(...many)).status, 200)
  })

  it("takes a form only with the flow's own cookie, and from its own page", async () => {
    const reader = browser()
    const email = address()
    const first = await reader.open("/login")
    const stranger = browser()
    for (const refused of [
      await stranger.submit(first, { email }),
      await reader.submit(first, { email, csrf: "x".repeat(22) }),
      await reader.submit(first, { email, csrf: "\u00e9".repeat(22) }),
      await reader.submit(first, { email, csrf: "" }),
      await reader.submit(first, { email }, { "sec-fetch-site": "cross-site" }),
      await reader.submit(first, { email }, { "sec-fetch-site": "same-site" })
    ]) {
      assert.strictEqual(refused.status, 400)
      assert.match(alertOf(refused), /start again\.$/)
    }
    const sealed = reader.cookies.get("coffer-flow") ?? ""
    for (const altered of [sealed.slice(0, -1), `${sealed.slice(0, 60)}A${sealed.slice(61)}`, "x", ""]) {
      stranger.cookies.set("coffer-flow", altered === sealed ? "y" : altered)
      assert.strictEqual((await stranger.submit(first, { email })).status, 400)
    }
    assert.strictEqual((await reader.submit(first, { email })).status, 200)
  })

  it("takes no other body than its form, and only as large as one", async () => {
    const reader = browser()
    const json = await reader.open("/login", {
      method: "POST",
      body: "{}",
      headers: { "content-type": "application/json" }
    })
    assert.strictEqual(json.status, 415)
    const large = await reader.submit(await reader.open("/login"), { email: "x".repeat(9_000) })
    assert.strictEqual(large.status, 413)
    assert.strictEqual((await reader.open("/login", { method: "DELETE" })).status, 405)
    assert.strictEqual((await reader.open("/login", { method: "HEAD" })).status, 200)
    const twice = await reader.submit(await reader.open("/login"), { email: "a@example.com" })
    assert.strictEqual(twice.status, 200)
  })

  it("sets no cookie over plain HTTP, unless the browser and the server are on one machine", async () => {
    const dialogue = (host: string, headers = "") =>
      program.exchange(`GET /login HTTP/1.1\r\nhost: ${host}\r\n${headers}connection: close\r\n\r\n`)
    for (const [host, headers] of [
      ["coffer.example.com", ""],
      ["192.0.2.1:7100", ""],
      ["localhost.example.com", ""],
      ["127.0.0.1:7100", "x-real-ip: 192.0.2.1\r\n"],
      ["localhost", "x-forwarded-for: 192.0.2.1\r\n"]
    ] as const) {
      const { headers: sent, status, text } = await dialogue(host, headers)
      assert.strictEqual(status, 400, host)
      assert.include(text, "SERVICE_PUBLIC_URL")
      assert.isNull(sent.get("set-cookie"))
    }
    for (const host of ["localhost:7100", "127.0.0.1", "[::1]:7100"]) {
      assert.strictEqual((await dialogue(host)).status, 200, host)
    }
  })

  it("logs in again for the same intent from a page of an earlier one", async () => {
    const reader = browser()
    const email = address()
    await reader.submit(await reader.open("/login"), { email })
    const again = await reader.open("/login?again")
    assert.include(again.text, `value="${email}"`)
    const last = await logIn(reader, address())
    assert.strictEqual(last.status, 200)
  })
})

describe("with an https address", () => {
  it("the cookies have the prefix that binds them to the host, and Secure", async () => {
    const behind = await Program.start({ SERVICE_PUBLIC_URL: "https://coffer.example.com" })
    const reader = new Browser(behind.url)
    const asked = await reader.submit(await reader.open("/login"), { email: "ada@example.com" })
    const [, code = ""] = await behind.said(/^login code for ada@example\.com: (\d{6})$/m)
    const { headers } = await reader.submit(asked, { code })
    for (const line of headers.getSetCookie()) assert.match(line, /^__Host-coffer(-flow)?=.*; Path=\/; .*Secure/)
    assert.deepStrictEqual([...reader.cookies.keys()], ["__Host-coffer"])
    assert.strictEqual((await reader.call("GET", "/api/auth/me")).status, 200)
    const token = reader.cookies.get("__Host-coffer") ?? ""
    reader.cookies.clear()
    reader.cookies.set("coffer", token)
    assert.strictEqual((await reader.call("GET", "/api/auth/me")).status, 401, "without the prefix it may be planted")
    await behind.remove()
  })
})
