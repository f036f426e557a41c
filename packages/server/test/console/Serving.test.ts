import { createHash } from "node:crypto"
import { brotliDecompressSync, gunzipSync } from "node:zlib"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { cleanUp, Program } from "../support/Program.js"

let program: Program
let page: string
let script: string

const get = (path: string, headers: Readonly<Record<string, string>> = {}, method = "GET") =>
  fetch(program.url + path, { method, headers, redirect: "manual" })

/** As a browser opens an address. */
const open = (path: string) => get(path, { accept: "text/html,application/xhtml+xml,*/*;q=0.8" })

/** The answer as it came, without the decoding of `fetch`. */
const raw = (path: string, coding: string) =>
  program.exchange(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: ${coding}\r\nConnection: close\r\n\r\n`)

beforeAll(async () => {
  program = await Program.start()
  page = await (await open("/")).text()
  script = /src="(\/-\/assets\/[^"]+\.js)"/.exec(page)?.[1] ?? assert.fail("the page has no script")
})
afterAll(async () => {
  await program.remove()
  cleanUp()
})

describe("the console", () => {
  it("answers the page at each of its addresses, and nothing else there", async () => {
    for (const path of [
      "/",
      "/acme",
      "/acme/webshop?env=prod",
      "/acme/webshop/DATABASE.URL",
      "/acme/-/members",
      "/-/x"
    ]) {
      const answer = await open(path)
      assert.strictEqual(answer.status, 200, path)
      assert.strictEqual(await answer.text(), page, path)
      assert.strictEqual(answer.headers.get("content-type"), "text/html; charset=utf-8")
      assert.strictEqual(answer.headers.get("cache-control"), "no-cache")
    }
    assert.strictEqual((await get("/acme/webshop")).status, 404, "a program that does not ask for a page")
  })

  it("may run its own scripts alone, in no frame, and isolated from other sites", async () => {
    const { headers } = await open("/acme")
    assert.strictEqual(
      headers.get("content-security-policy"),
      "default-src 'none'; font-src 'self'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
    )
    assert.strictEqual(headers.get("referrer-policy"), "no-referrer")
    assert.strictEqual(headers.get("cross-origin-opener-policy"), "same-origin")
    assert.strictEqual(headers.get("cross-origin-resource-policy"), "same-origin")
    assert.strictEqual(headers.get("x-content-type-options"), "nosniff")
    assert.match(headers.get("permissions-policy") ?? "", /^(?:[a-z-]+=\(\)(?:, )?)+$/)
    assert.notMatch(page, /<script(?![^>]* src=)|<style| style=| on\w+=|https?:\/\//)
  })

  it("never answers the page for a path of the API or of the server's own pages", async () => {
    for (const path of [
      ...["/api", "/api/", "/api/orgs/acme/nowhere", "/API/orgs", "/api/auth/verify", "/login/x", "/device/x"],
      ...[
        "/health/x",
        "/metrics",
        "/docs/x",
        "/robots.txt",
        "/favicon.ico",
        "/.well-known/security.txt",
        "//acme",
        "/acme//x",
        "/acme/",
        "/acme;x"
      ],
      ...["/-/assets/", "/-/assets/nowhere.js", "/-/assets", "/index.html", "/a/b/c/d/e/f/g/h/i"]
    ]) {
      const answer = await open(path)
      assert.include([404, 405], answer.status, path)
      assert.match(await answer.text(), /^\{"error":\{"code":"(NOT_FOUND|METHOD_NOT_ALLOWED)"/, path)
    }
    assert.strictEqual((await open("/api/auth/verify")).status, 405)
    for (const method of ["POST", "PUT", "DELETE"]) assert.strictEqual((await get("/acme", {}, method)).status, 404)
    assert.include(await (await open("/login")).text(), "E-mail address")
    assert.strictEqual((await open("/health")).headers.get("content-type"), "application/json")
  })

  it("serves no other file by any spelling of a path", async () => {
    for (const path of [
      ...["/../documents/openapi.json", "/-/assets/../../../package.json", "/-/assets/..%2f..%2f..%2fpackage.json"],
      ...["/%2e%2e/documents/openapi.json", "/-/assets/%2e%2e/index.html", "/..\\documents\\openapi.json"],
      ...[
        "/-/assets/%00",
        "/web.json",
        "/../web.json",
        "/%2fetc%2fpasswd",
        "//etc/passwd",
        `${script}.br`,
        `${script}.gz`
      ]
    ]) {
      const { status, text } = await program.exchange(
        `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\nConnection: close\r\n\r\n`
      )
      assert.include([400, 404], status, path)
      assert.match(text, /^\{"error":/, path)
    }
  })

  it("serves hashed files for ever, in the coding that the browser takes, and lists them", async () => {
    const plain = await raw(script, "identity")
    assert.strictEqual(plain.headers.get("cache-control")?.trim(), "public, max-age=31536000, immutable")
    assert.strictEqual(plain.headers.get("content-type")?.trim(), "text/javascript; charset=utf-8")
    const hash = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex")
    const content = hash(Buffer.from(plain.text, "latin1"))
    const br = await raw(script, "gzip, deflate, br")
    assert.strictEqual(br.headers.get("content-encoding")?.trim(), "br")
    assert.strictEqual(br.headers.get("vary")?.trim(), "accept-encoding")
    assert.strictEqual(hash(brotliDecompressSync(Buffer.from(br.text, "latin1"))), content)
    const list = await get("/console.json")
    assert.strictEqual(list.headers.get("cache-control"), "no-cache")
    const { files, ...rest }: { files: Readonly<Record<string, string>> } = JSON.parse(await list.text())
    assert.deepStrictEqual(Object.keys(rest), ["version"])
    assert.strictEqual(files[script], content)
    assert.strictEqual(files["/"], hash(Buffer.from(page)))
    const gz = await raw(script, "br;q=0, gzip")
    assert.strictEqual(gz.headers.get("content-encoding")?.trim(), "gzip")
    assert.strictEqual(hash(gunzipSync(Buffer.from(gz.text, "latin1"))), content)
  })

  it("answers 304 to a browser that has the file, and HEAD without a body", async () => {
    for (const path of ["/", script]) {
      const first = await get(path)
      const etag = first.headers.get("etag") ?? ""
      assert.match(etag, /^"[\w-]{27}"$/)
      const again = await get(path, { "if-none-match": `W/${etag}` })
      assert.strictEqual(again.status, 304)
      assert.strictEqual(again.headers.get("etag"), etag)
      assert.strictEqual((await get(path, { "if-none-match": '"other"' })).status, 200)
      const head = await get(path, {}, "HEAD")
      assert.strictEqual(head.status, 200)
      assert.strictEqual(await head.text(), "")
      assert.strictEqual(head.headers.get("etag"), etag)
    }
  })

  it("has no address under /v1, where nothing is while the view of Vault's API is off", async () => {
    for (const [method, path] of [
      ["GET", "/v1"],
      ["GET", "/v1/sys/health"],
      ["POST", "/v1/auth/approle/login"],
      ["PUT", "/v1/webshop/data/prod"]
    ] as const) {
      const { body, status } = await program.call(method, path, { headers: { accept: "text/html" } })
      assert.deepStrictEqual([status, body.error.code], [404, "NOT_FOUND"], path)
    }
  })

  it("is off with SERVICE_CONSOLE=0, and the login page stays", async () => {
    const without = await Program.start({ SERVICE_CONSOLE: "0" })
    const at = (path: string) => fetch(without.url + path, { headers: { accept: "text/html" } })
    assert.include(await (await at("/")).text(), "This server keeps secrets")
    assert.strictEqual((await at("/acme")).status, 404)
    assert.strictEqual((await at(script)).status, 404)
    assert.strictEqual((await at("/login")).status, 200)
    await without.remove()
  })
})
