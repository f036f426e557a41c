import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { brotliDecompressSync, gunzipSync } from "node:zlib"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { securityText } from "../../src/edges/system/SecurityText.js"
import { apiDocument } from "../../src/edges/system/ApiDocument.js"
import { cleanUp, type Json, Program } from "../support/Program.js"
import { isSoak } from "../../../domain/test/support/Runs.js"

const docs = new URL("../../../../docs/", import.meta.url)
const pages = readdirSync(docs, { encoding: "utf8", recursive: true }).filter(
  (file) => file.endsWith(".md") && file !== "licences.md"
)

const stale = "the build is older than the sources: run npm run build"

/** A browser takes seconds to start: only in the long form. */
const hasChromium = isSoak && spawnSync("chromium", ["--version"], { stdio: "ignore" }).status === 0

describe("what the server hands out about itself", () => {
  let server: Program
  const get = (path: string, method = "GET", headers = {}) => fetch(`${server.url}${path}`, { method, headers })

  beforeAll(async () => {
    server = await Program.start({
      SERVICE_SECURITY_CONTACT: "mailto:security@example.com, https://example.com/security",
      SERVICE_PUBLIC_URL: "https://coffer.example.com"
    })
  })
  afterAll(cleanUp)

  it("is the contract, at /openapi.json", async () => {
    const answer = await get("/openapi.json")
    assert.strictEqual(answer.status, 200)
    assert.strictEqual(answer.headers.get("content-type"), "application/json")
    assert.deepStrictEqual(await answer.json(), JSON.parse(JSON.stringify(apiDocument())), stale)
  })

  it("is whom to tell of a security problem, at /.well-known/security.txt", async () => {
    const answer = await get("/.well-known/security.txt")
    assert.strictEqual(answer.status, 200)
    assert.strictEqual(answer.headers.get("content-type"), "text/plain; charset=utf-8")
    assert.strictEqual(answer.headers.get("cache-control"), "public, max-age=3600")
    const text = await answer.text()
    const expires = /^Expires: (.*)$/m.exec(text)?.[1] ?? ""
    assert.strictEqual(
      text,
      [
        "Contact: mailto:security@example.com",
        "Contact: https://example.com/security",
        `Expires: ${expires}`,
        "Canonical: https://coffer.example.com/.well-known/security.txt",
        ""
      ].join("\n")
    )
    const days = (Date.parse(expires) - Date.now()) / 86_400_000
    assert.isTrue(days > 178 && days <= 180, expires)
    assert.match(expires, /^\d{4}-\d\d-\d\dT00:00:00\.000Z$/)
    assert.strictEqual((await get("/.well-known/security.txt", "HEAD")).status, 200)
    assert.strictEqual((await get("/.well-known/security.txt", "POST")).status, 405)
    assert.notInclude(securityText(["tel:112"], null, Date.now()), "Canonical")
  })

  it("is an index in the form of llmstxt.org, at /llms.txt", async () => {
    const answer = await get("/llms.txt")
    assert.strictEqual(answer.headers.get("content-type"), "text/plain; charset=utf-8")
    const lines = (await answer.text()).split("\n").filter((line) => line !== "")
    assert.strictEqual(lines[0], "# Coffer")
    assert.match(lines[1] ?? "", /^> \S/)
    const first = lines.findIndex((line) => line.startsWith("## "))
    assert.isFalse(lines.slice(2, first).some((line) => line.startsWith("#")))
    for (const line of lines.slice(first)) assert.match(line, /^(## \S.*|- \[[^\]]+\]\(\/[^)]+\): \S.*)$/)
    assert.deepStrictEqual(
      lines.filter((line) => line.startsWith("## ")),
      ["## Documentation", "## API", "## Optional"]
    )
  })

  it("has no dead link in its index", async () => {
    const index = await (await get("/llms.txt")).text()
    const links = new Set([...index.matchAll(/\]\(([^)]+)\)/g)].map(([, link = ""]) => link))
    const full = await (await get("/llms-full.txt")).text()
    for (const link of links) {
      assert.strictEqual((await get(link, "HEAD")).status, 200, link)
      if (/^\/docs\/(?!api-)/.test(link)) assert.include(full, `<!-- docs/${link.slice("/docs/".length)} -->`)
    }
    assert.isAbove(links.size, pages.length)
  })

  it("links a short text for each page and for each group of calls", async () => {
    const index = await (await get("/llms.txt")).text()
    const links = [...index.matchAll(/\]\((\/docs\/[^)]+)\)/g)].map(([, link = ""]) => link)
    for (const name of pages) assert.include(links, `/docs/${name}`)
    const { tags }: Json = apiDocument()
    for (const { name } of Object.values<Json>(tags)) {
      assert.include(links, `/docs/api-${name.toLowerCase().replaceAll(" ", "-")}.md`)
    }
    for (const link of links) {
      const answer = await get(link)
      assert.strictEqual(answer.headers.get("content-type"), "text/markdown; charset=utf-8")
      const text = await answer.text()
      assert.match(text, /^# \S/, link)
      // All calls in one, and all records, which a reader of calls searches.
      const most = link === "/docs/api.md" ? Infinity : link === "/docs/api-records.md" ? 250_000 : 100_000
      assert.isBelow(text.length, most, link)
      for (const [, to = ""] of text.matchAll(/\]\((\/docs\/[a-z/-]+\.md)/g)) {
        assert.strictEqual((await get(to, "HEAD")).status, 200, `${link}: ${to}`)
      }
    }
    assert.include(await (await get("/docs/cli.md")).text(), "coffer secret get")
    assert.include(await (await get("/docs/api-secrets.md")).text(), "/secrets/{key}")
  })

  it("has a page for a browser of each text, whose links lead to pages, pictures and headings of this server", async () => {
    const found = new Map<string, string>()
    const read = async (path: string) => {
      const known = found.get(path)
      if (known !== undefined) return known
      const answer = await get(path)
      assert.strictEqual(answer.status, 200, path)
      const text = answer.headers.get("content-type")?.startsWith("text/html") === true ? await answer.text() : ""
      found.set(path, text)
      return text
    }
    for (const name of pages) {
      const path = `/docs/${name.slice(0, -".md".length)}`
      const answer = await get(path)
      assert.strictEqual(answer.headers.get("content-type"), "text/html; charset=utf-8", path)
      const policy = answer.headers.get("content-security-policy") ?? ""
      assert.match(policy, /^default-src 'none'; style-src 'sha256-/)
      const html = await answer.text()
      const [, style = ""] = /<style>([\s\S]*?)<\/style>/.exec(html) ?? []
      assert.include(policy, createHash("sha256").update(style).digest("base64"))
      assert.notMatch(html, /<script|<[^>]+ (?:style|on[a-z]+)=/)
      for (const [, link = ""] of html.matchAll(/ (?:href|src)="(\/[^"]*)"/g)) {
        const [to = "", anchor] = link.split("#")
        const target = await read(to)
        if (anchor !== undefined) assert.include(target, ` id="${anchor}"`, `${path}: ${link}`)
      }
    }
    assert.include(await read("/docs"), 'href="/docs/i-run-the-server"')
  })

  it("has no page of another name, and nothing but its own", async () => {
    for (const path of [
      "/docs/none.md",
      "/docs/..%2fopenapi.json",
      "/docs/cli.md.br",
      "/docs/cli.html",
      "/docs/operations/../../openapi.json.md",
      "/docs/openapi.json"
    ]) {
      const answer = await get(path)
      assert.deepStrictEqual([answer.status, JSON.parse(await answer.text()).error.code], [404, "NOT_FOUND"], path)
    }
    assert.strictEqual((await get("/docs/cli.md", "POST")).status, 405)
  })

  it("is every page of the documentation, whole, at /llms-full.txt", async () => {
    const answer = await get("/llms-full.txt")
    assert.strictEqual(answer.headers.get("content-type"), "text/plain; charset=utf-8")
    const full = await answer.text()
    for (const page of pages) assert.isTrue(full.includes(readFileSync(new URL(page, docs), "utf8").trim()), stale)
  })

  it("is a page that loads nothing from elsewhere and runs only its own program, at /docs", async () => {
    const answer = await get("/docs")
    assert.strictEqual(answer.status, 200)
    assert.strictEqual(answer.headers.get("content-type"), "text/html; charset=utf-8")
    const html = await answer.text()
    assert.notMatch(html, /<(script|link|img|iframe)[^>]*\s(src|href)=["']?(https?:)?\/\//)
    const policy = new Map(
      (answer.headers.get("content-security-policy") ?? "").split("; ").map((directive) => {
        const [name = "", ...values] = directive.split(" ")
        return [name, values]
      })
    )
    assert.deepStrictEqual(policy.get("default-src"), ["'none'"])
    assert.deepStrictEqual(policy.get("frame-ancestors"), ["'none'"])
    assert.deepStrictEqual(policy.get("connect-src"), ["'self'"])
    const programs = [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(
      ([, program = ""]) => `'sha256-${createHash("sha256").update(program).digest("base64")}'`
    )
    assert.isAtLeast(programs.length, 1)
    assert.deepStrictEqual(policy.get("script-src"), programs)
    assert.include(html, "/api/orgs/{org_name}/acl/explain")
  })

  it.skipIf(!hasChromium)(
    "is a page that a browser draws under its policy: each call is on it (needs chromium)",
    () => {
      const profile = mkdtempSync(join(tmpdir(), "coffer-chromium-"))
      const flags = ["--headless=new", "--no-sandbox", "--disable-gpu", `--user-data-dir=${profile}`]
      const { stdout } = spawnSync(
        "chromium",
        [...flags, "--virtual-time-budget=5000", "--dump-dom", `${server.url}/docs`],
        {
          encoding: "utf8",
          maxBuffer: 64 * 1024 * 1024,
          timeout: 60_000
        }
      )
      rmSync(profile, { recursive: true, force: true })
      const { paths }: Json = apiDocument()
      const calls = Object.values<Json>(paths).flatMap((item) => Object.keys(item))
      assert.lengthOf([...stdout.matchAll(/class="opblock opblock-[a-z]+"/g)], calls.length)
    }
  )

  it("asks for no credential, answers HEAD without a body, and keeps the server's own headers", async () => {
    for (const path of ["/openapi.json", "/docs", "/llms.txt", "/llms-full.txt"]) {
      const uncoded = { "accept-encoding": "identity" }
      const body = Buffer.from(await (await get(path, "GET", uncoded)).arrayBuffer())
      const answer = await get(path, "HEAD", uncoded)
      assert.strictEqual(answer.status, 200)
      assert.strictEqual(answer.headers.get("content-length"), String(body.length), path)
      assert.strictEqual((await answer.arrayBuffer()).byteLength, 0)
      assert.strictEqual(answer.headers.get("cache-control"), "no-store")
      assert.strictEqual(answer.headers.get("x-content-type-options"), "nosniff")
      assert.isNotNull(answer.headers.get("x-request-id"))
    }
  })

  it("is served in the coding that the client takes, as the build compressed it: no request compresses anything", async () => {
    const fails = `import zlib from "node:zlib"; import { syncBuiltinESMExports } from "node:module";
      const fail = () => { throw new Error("something was compressed") };
      for (const name of ["brotliCompress", "deflate", "gzip"]) zlib[name] = zlib[name + "Sync"] = fail;
      for (const name of ["BrotliCompress", "Deflate", "Gzip"]) zlib[name].prototype._transform = fail;
      syncBuiltinESMExports()`
    const program = await Program.start({
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(fails)}`,
      CORS_ALLOWED_ORIGINS: "https://app.example.com"
    })
    const raw = async (path: string, ...fields: ReadonlyArray<string>) => {
      const { headers, status, text } = await program.exchange(
        [`GET ${path} HTTP/1.1`, "Host: localhost", "Connection: close", ...fields, "", ""].join("\r\n")
      )
      const field = (name: string) => headers.get(name)?.trim()
      return { status, bytes: Buffer.from(text, "latin1"), field }
    }
    for (const [path, file] of [
      ["/openapi.json", "openapi.json"],
      ["/docs", "docs.html"],
      ["/llms.txt", "llms.txt"],
      ["/llms-full.txt", "llms-full.txt"]
    ] as const) {
      const built = (extension: string) =>
        readFileSync(new URL(`../../dist/documents/${file}${extension}`, import.meta.url))
      const etags = new Set<string>()
      for (const [taken, coding, extension, decompress] of [
        ["br, gzip", "br", ".br", brotliDecompressSync],
        ["gzip, deflate", "gzip", ".gz", gunzipSync],
        ["identity", undefined, "", (bytes: Buffer) => bytes]
      ] as const) {
        const { bytes, field, status } = await raw(path, `Accept-Encoding: ${taken}`)
        assert.deepStrictEqual([status, field("content-encoding")], [200, coding], `${path} ${taken}`)
        assert.isTrue(bytes.equals(built(extension)), `${path} ${taken}`)
        assert.isTrue(decompress(bytes).equals(built("")), `${path} ${taken}: ${stale}`)
        assert.strictEqual(field("vary"), "accept-encoding")
        const etag = field("etag") ?? ""
        assert.match(etag, /^"[\w-]{27}"$/)
        etags.add(etag)
        const again = await raw(path, `Accept-Encoding: ${taken}`, `If-None-Match: ${etag}`)
        assert.deepStrictEqual([again.status, again.bytes.length, again.field("etag")], [304, 0, etag])
        assert.strictEqual(again.field("vary"), "accept-encoding")
      }
      assert.strictEqual(etags.size, 3, "a tag differs by coding")
      const other = await raw(path, "Origin: https://app.example.com")
      assert.deepStrictEqual([other.status, other.field("vary")], [200, "accept-encoding, Origin"])
    }
    assert.notInclude(program.log, "something was compressed")
    await program.remove()
  })

  it("leaves no file open behind readers that hang up", async () => {
    const open = () => readdirSync(`/proc/${server.pid}/fd`).length
    const before = open()
    for (let round = 0; round < 20; round++) {
      const controller = new AbortController()
      const answer = await fetch(`${server.url}/docs`, { signal: controller.signal })
      assert.strictEqual(answer.status, 200)
      controller.abort()
    }
    for (let tries = 0; open() > before + 5 && tries < 100; tries++) {
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    assert.isAtMost(open(), before + 5)
  })
})
